// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where and when a side of a QP runs. Three lanes, chosen here and nowhere else:
 *
 *  - the poster's own context, for a user's doorbell that waits for what comes
 *    of it;
 *  - the CPU's softirq (rxe_poll.c), for packets, timeouts and whatever else
 *    happens to a QP;
 *  - the workqueue, for a stream of doorbells, which another CPU sends while
 *    more are posted, and for what may sleep.
 *
 * Stage:	between a kick (doorbell, packet, timeout) and the side's passes
 * In:		a side and the reason why it has to run
 * Out:		a run, bounded by a budget, now or later
 * Context:	any; a run has bottom halves disabled unless it may sleep
 * Locks:	odp_lock (process context)
 * Never:	runs a side from an skb destructor, a timer, with interrupts
 *		off, or where a packet is looped back to its sender's host
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>

#include "rxe.h"
#include "rxe_poll.h"
#include "rxe_queue.h"
#include "rxe_run.h"
#include "rxe_trace.h"

/*
 * Passes of one run in the poster's context or the workqueue; the workqueue
 * does the rest, in pieces. A pass sends at most one packet, and nothing drains
 * the backlog behind a veth device (1000 packets) meanwhile.
 */
#define POST_BUDGET	64
#define WORK_BUDGET	64

/* Passes of a run that may sleep and so holds nobody up */
#define SLEEPER_BUDGET	1024

static struct workqueue_struct *run_wq;

/**
 * rxe_run_odp_get() - Keep a device's runs in process context
 * @rxe: the device
 *
 * A run that meets a region with on-demand paging sleeps on its umem_mutex. So
 * while a device has one, none of its runs has bottom halves disabled. To be
 * called before the region can be found by its key; runs with bottom halves
 * disabled are RCU readers, so that after a grace period all of them know.
 *
 * Context: process, may sleep.
 */
void rxe_run_odp_get(struct rxe_dev *rxe)
{
	mutex_lock(&rxe->odp_lock);
	WRITE_ONCE(rxe->odp_mrs, rxe->odp_mrs + 1);
	if (rxe->odp_mrs == 1)
		synchronize_rcu();
	mutex_unlock(&rxe->odp_lock);
}

/**
 * rxe_run_odp_put() - Undo rxe_run_odp_get()
 * @rxe: the device; no run holds the region any more
 *
 * Context: process.
 */
void rxe_run_odp_put(struct rxe_dev *rxe)
{
	mutex_lock(&rxe->odp_lock);
	WRITE_ONCE(rxe->odp_mrs, rxe->odp_mrs - 1);
	mutex_unlock(&rxe->odp_lock);
}

/* To be asked with bottom halves disabled, see rxe_run_odp_get() */
static bool may_sleep(const struct rxe_qp *qp)
{
	return READ_ONCE(to_rdev(qp->ibqp.device)->odp_mrs);
}

/*
 * With requests un-ACKed the message will not leave the faster for being sent
 * by its poster. A racy look at the PSNs: either answer is right, just not
 * always the best.
 */
static bool has_unacked(struct rxe_qp *qp)
{
	return qp_type(qp) == IB_QPT_RC &&
	       psn_compare(READ_ONCE(qp->req.psn), READ_ONCE(qp->comp.psn)) > 0;
}

static bool all_completions_seen(struct rxe_cq *cq)
{
	unsigned long flags;
	bool seen;

	/* resizing frees the old queue */
	spin_lock_irqsave(&cq->cq_lock, flags);
	seen = queue_empty(cq->queue, QUEUE_TYPE_TO_CLIENT);
	spin_unlock_irqrestore(&cq->cq_lock, flags);
	return seen;
}

/* It asked for a completion of what it posts now, and has seen all so far */
static bool awaits_completion(const struct rxe_qp *qp)
{
	struct rxe_queue *sq = qp->sq.queue;
	u32 end = queue_get_producer(sq, QUEUE_TYPE_FROM_CLIENT);
	const struct rxe_send_wqe *last = queue_addr_from_index(sq, end - 1);

	return READ_ONCE(last->wr.send_flags) & IB_SEND_SIGNALED &&
	       all_completions_seen(qp->scq);
}

static void run_later_in_work(struct rxe_side *side)
{
	queue_work(run_wq, &side->work);
}

/* A softirq follows when whoever has disabled bottom halves enables them */
static void run_later_in_softirq(struct rxe_side *side)
{
	if (in_interrupt()) {
		rxe_poll_add(side);
	} else {
		local_bh_disable();
		rxe_poll_add(side);
		local_bh_enable();
	}
}

/* One run; @later sees to the next one if this uses up its budget */
static unsigned int run(struct rxe_side *side, unsigned int budget,
			void (*later)(struct rxe_side *side))
{
	unsigned int passes = 0;
	bool more, stop;
	u32 why;

	for (;;) {
		why = rxe_side_take(&side->state);
		do {
			more = !side->pass(side->qp);
		} while (++passes < budget && more);
		trace_rxe_run(side, why, passes, budget);

		if (!more && rxe_side_idle(&side->state, &stop)) {
			if (stop)
				wake_up_var(&side->state);
			return passes;
		}
		if (passes >= budget)
			break;
	}

	if (rxe_side_yield(&side->state))
		later(side);
	else
		wake_up_var(&side->state);
	return passes;
}

/* Bottom halves off: the receivers that the device wakes wait for the end */
static void run_in_poster(struct rxe_qp *qp)
{
	struct rxe_side *side = &qp->send_side;

	if (!rxe_side_kick(&side->state, RXE_KICK_POST))
		return;

	local_bh_disable();
	if (may_sleep(qp))
		run_later_in_work(side);
	else
		run(side, POST_BUDGET, run_later_in_work);
	local_bh_enable();
}

static void post_to_work(struct rxe_qp *qp)
{
	struct rxe_side *side = &qp->send_side;

	if (rxe_side_kick(&side->state, RXE_KICK_POST))
		run_later_in_work(side);
}

/*
 * A poster that polls keeps the only CPU until its time slice ends, so its
 * messages are sent at once. One that will sleep for a completion, and does not
 * yet, has more to post: that leaves together when it does.
 */
static void post_on_only_cpu(struct rxe_qp *qp)
{
	struct rxe_poster *poster = &qp->poster;
	bool quick = rxe_poster_awake(poster, current->nvcsw);

	if (READ_ONCE(qp->scq->notify) &&
	    rxe_poster_streams(poster, quick) && !awaits_completion(qp))
		post_to_work(qp);
	else
		run_in_poster(qp);
}

/*
 * A poster that waits for what comes of its message is served best by a run at
 * once. One that posts on and on gets more done if another CPU sends meanwhile.
 */
static void post_on_one_of_many(struct rxe_qp *qp)
{
	struct rxe_poster *poster = &qp->poster;
	u64 now = ktime_get_ns();
	bool quick = rxe_poster_hurried(poster, now);

	if (has_unacked(qp) ||
	    (rxe_poster_streams(poster, quick) && !awaits_completion(qp))) {
		post_to_work(qp);
	} else {
		run_in_poster(qp);
		rxe_poster_ran(poster, now, ktime_get_ns());
	}
	rxe_poster_left(poster, ktime_get_ns());
}

/*
 * A kernel consumer's completion handler may take the locks that its own
 * ib_post_send() is called under (Documentation/infiniband/core_locking.rst),
 * so its doorbell never completes anything.
 */
static void post_from_kernel(struct rxe_qp *qp)
{
	if (has_unacked(qp) && num_online_cpus() > 1)
		post_to_work(qp);
	else
		rxe_run_kick(&qp->send_side, RXE_KICK_POST);
}

/**
 * rxe_run_post() - Handle a doorbell: send what has been posted
 * @qp: the QP
 *
 * Context: any; process for a user's QP.
 */
void rxe_run_post(struct rxe_qp *qp)
{
	if (!qp->is_user)
		post_from_kernel(qp);
	else if (num_online_cpus() == 1)
		post_on_only_cpu(qp);
	else
		post_on_one_of_many(qp);
}

/*
 * Whether the caller, in process context, may hold an irqsave lock that a run
 * or a consumer takes. With PREEMPT_RT such a lock cannot be told: it leaves
 * interrupts enabled.
 */
static bool may_hold_lock(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) || irqs_disabled();
}

/**
 * rxe_run_kick() - Have a side run soon
 * @side: the side
 * @why: RXE_KICK_* bits
 *
 * In the workqueue if a packet was looped back, for its sender goes on
 * meanwhile, and for a caller that may hold a lock and does not run in a
 * softirq.
 *
 * Context: any.
 */
void rxe_run_kick(struct rxe_side *side, u32 why)
{
	if (!rxe_side_kick(&side->state, why))
		return;

	if (why & RXE_KICK_LOOP || (!in_interrupt() && may_hold_lock()))
		run_later_in_work(side);
	else
		run_later_in_softirq(side);
}

/**
 * rxe_run_polled() - Run a side that waited for the CPU's softirq
 * @side: the side, busy
 * @budget: passes
 *
 * Context: softirq.
 * Return: passes made
 */
unsigned int rxe_run_polled(struct rxe_side *side, unsigned int budget)
{
	if (!may_sleep(side->qp))
		return run(side, budget, rxe_poll_add);

	run_later_in_work(side);
	return 0;
}

/*
 * What a run sends over a virtual device waits there for the end of the run, so
 * that the receivers meet many packets and not one by one.
 */
static void run_work(struct work_struct *work)
{
	struct rxe_side *side = container_of(work, struct rxe_side, work);
	bool sleeper;

	local_bh_disable();
	sleeper = may_sleep(side->qp);
	if (!sleeper)
		run(side, WORK_BUDGET, run_later_in_work);
	local_bh_enable();

	if (sleeper)
		run(side, SLEEPER_BUDGET, run_later_in_work);
}

/**
 * rxe_run_setup() - Make a side ready to run
 * @side: the side, zeroed
 * @qp: its QP
 * @pass: one pass, called by one runner at a time; 0 if another one may find
 *	something to do
 */
void rxe_run_setup(struct rxe_side *side, struct rxe_qp *qp,
		   int (*pass)(struct rxe_qp *qp))
{
	side->qp = qp;
	side->pass = pass;
	INIT_WORK(&side->work, run_work);
}

/**
 * rxe_run_stop() - Wait until a side runs no more
 * @side: the side
 *
 * Kicks are kept for rxe_run_start().
 *
 * Context: process, may sleep.
 */
void rxe_run_stop(struct rxe_side *side)
{
	rxe_side_stop(&side->state);
	wait_var_event(&side->state, !rxe_side_busy(&side->state));
}

/**
 * rxe_run_start() - Let a side run again
 * @side: the side, stopped
 *
 * Context: process.
 */
void rxe_run_start(struct rxe_side *side)
{
	if (rxe_side_start(&side->state))
		run_later_in_work(side);
}

/**
 * rxe_run_queue_work() - Do something else in the workqueue of the runs
 * @work: what
 */
void rxe_run_queue_work(struct work_struct *work)
{
	queue_work(run_wq, work);
}

/**
 * rxe_run_init() - Set up the lanes
 *
 * Context: process.
 * Return: 0 or -ENOMEM
 */
int rxe_run_init(void)
{
	int err;

	run_wq = alloc_workqueue("rxe_wq", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!run_wq)
		return -ENOMEM;

	err = rxe_poll_init();
	if (err)
		destroy_workqueue(run_wq);
	return err;
}

/**
 * rxe_run_exit() - Undo rxe_run_init()
 *
 * Context: process, may sleep.
 */
void rxe_run_exit(void)
{
	destroy_workqueue(run_wq);
	rxe_poll_exit();
}
