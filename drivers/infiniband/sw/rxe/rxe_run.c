// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where and when a side of a QP runs. Three lanes, chosen by rxe_run_kick(), or
 * for a doorbell by rxe_doorbell():
 *
 *  - the poster's own context, for a user's doorbell that waits for what comes
 *    of it;
 *  - the CPU's softirq (rxe_poll.c), for packets, timeouts and whatever else
 *    happens to a QP, and a little later for what waits to become a batch;
 *  - the workqueue, for a stream of doorbells, which another CPU sends while
 *    more are posted, and for what may sleep. If a worker does not come in time,
 *    the others take over.
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
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "rxe.h"
#include "rxe_poll.h"
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
 * By a worker, or whoever claims the side while that is on its way. Then even
 * the QP may end meanwhile: the caller is a worker, which is waited for, or an
 * RCU reader, or a verb of the QP. See rxe_run_end().
 */
static void run_later_in_work(struct rxe_side *side)
{
	struct work_struct *work;

	side->turn ^= 1;
	work = &side->works[side->turn].work;
	rxe_side_lend(&side->state);
	queue_work(run_wq, work);
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

/*
 * One run; @later sees to the next one if this uses up its budget. The passes of
 * a @sleeper share nothing, for each may sleep for long.
 */
static unsigned int run(struct rxe_side *side, unsigned int budget,
			bool sleeper, void (*later)(struct rxe_side *side))
{
	unsigned int passes = 0;
	bool more;
	u32 why;

	for (;;) {
		why = rxe_side_take(&side->state);
		do {
			more = !side->pass(side->qp);
			if (sleeper)
				side->rest(side->qp);
		} while (++passes < budget && more);
		side->rest(side->qp);
		trace_rxe_run(side, why, passes, budget);

		if (!more && rxe_side_idle(&side->state))
			return passes;
		if (passes >= budget)
			break;
	}

	if (rxe_side_yield(&side->state))
		later(side);
	return passes;
}

/*
 * Returns true if the caller has to see to the run, of a side that waits for a
 * worker as well. But if only a worker can run it, that is left alone.
 */
static bool kick_or_claim(struct rxe_side *side, u32 why)
{
	return rxe_side_kick(&side->state, why) ||
	       (!may_sleep(side->qp) && rxe_side_claim(&side->state));
}

/*
 * On the only CPU a worker that waits is behind a poster, and all that it posts
 * before it sleeps is to leave together. On others it may be behind a process
 * that polls, for as long as a tick.
 */
static bool kick_or_relieve(struct rxe_side *side, u32 why)
{
	if (num_online_cpus() == 1)
		return rxe_side_kick(&side->state, why);

	return kick_or_claim(side, why);
}

/**
 * rxe_run_here() - Run a side in the context of who asks for it
 * @side: the side
 * @why: RXE_KICK_* bits
 *
 * With bottom halves disabled, so that the receivers that the device wakes wait
 * for the end of the run. If it runs already, that goes on; if it waits for a
 * worker or is corked, it runs before this returns.
 *
 * Context: process, no lock held.
 * Return: true if it was this call that has run it
 */
bool rxe_run_here(struct rxe_side *side, u32 why)
{
	bool mine = false;

	local_bh_disable();
	if (!kick_or_claim(side, why)) {
		rxe_poll_uncork();
	} else if (may_sleep(side->qp)) {
		run_later_in_work(side);
	} else {
		run(side, POST_BUDGET, false, run_later_in_work);
		mine = true;
	}
	local_bh_enable();
	return mine;
}

/**
 * rxe_run_corked() - Have a side run when there is more for it to do
 * @side: the side
 * @why: RXE_KICK_* bits
 * @until: when it has to run at the latest, in ns of ktime_get()
 *
 * In a softirq of this CPU, as soon as anything has it poll.
 *
 * Context: process.
 */
void rxe_run_corked(struct rxe_side *side, u32 why, u64 until)
{
	local_bh_disable();
	if (kick_or_claim(side, why))
		rxe_poll_cork(side, until);
	local_bh_enable();
}

/**
 * rxe_run_in_work() - Have a side run in the workqueue
 * @side: the side
 * @why: RXE_KICK_* bits
 *
 * Context: any.
 */
void rxe_run_in_work(struct rxe_side *side, u32 why)
{
	if (rxe_side_kick(&side->state, why))
		run_later_in_work(side);
	else
		rxe_poll_uncork();
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
 * softirq; else in a softirq of this CPU, if need be instead of a worker.
 *
 * Context: any.
 */
void rxe_run_kick(struct rxe_side *side, u32 why)
{
	if (why & RXE_KICK_LOOP || (!in_interrupt() && may_hold_lock()))
		rxe_run_in_work(side, why);
	else if (kick_or_relieve(side, why))
		run_later_in_softirq(side);
	else
		rxe_poll_uncork();
}

/**
 * rxe_run_timer() - Have a side of a QP run whose timer has expired
 * @side: the side
 *
 * Context: softirq, a timer of the QP.
 * Locks: the QP's state_lock
 */
void rxe_run_timer(struct rxe_side *side)
{
	struct rxe_qp *qp = side->qp;
	unsigned long flags;

	if (!rxe_get(qp))
		return;

	spin_lock_irqsave(&qp->state_lock, flags);
	if (qp->valid)
		rxe_run_kick(side, RXE_KICK_TIMER);
	spin_unlock_irqrestore(&qp->state_lock, flags);
	rxe_put(qp);
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
		return run(side, budget, false, rxe_poll_add);

	run_later_in_work(side);
	return 0;
}

/*
 * What a run sends over a virtual device waits there for the end of the run, so
 * that the receivers meet many packets and not one by one.
 */
static void run_work(struct work_struct *work)
{
	struct rxe_side_work *mine = container_of(work, struct rxe_side_work,
						  work);
	struct rxe_side *side = mine->side;
	bool sleeper;

	if (!rxe_side_claim(&side->state))
		return;
	side->turn = mine - side->works;

	local_bh_disable();
	sleeper = may_sleep(side->qp);
	if (!sleeper)
		run(side, WORK_BUDGET, false, run_later_in_work);
	local_bh_enable();

	if (sleeper)
		run(side, SLEEPER_BUDGET, true, run_later_in_work);
}

/**
 * rxe_run_setup() - Make a side ready to run
 * @side: the side, zeroed
 * @qp: its QP
 * @pass: one pass, called by one runner at a time; 0 if another one may find
 *	something to do
 * @rest: called after the last pass of a run
 */
void rxe_run_setup(struct rxe_side *side, struct rxe_qp *qp,
		   int (*pass)(struct rxe_qp *qp),
		   void (*rest)(struct rxe_qp *qp))
{
	int i;

	side->qp = qp;
	side->pass = pass;
	side->rest = rest;
	for (i = 0; i < ARRAY_SIZE(side->works); i++) {
		side->works[i].side = side;
		INIT_WORK(&side->works[i].work, run_work);
	}
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
	rxe_side_wait(&side->state);
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
 * rxe_run_end() - Undo rxe_run_setup()
 * @side: the side, stopped for ever
 *
 * Workers may be on their way to a side that others have run, and who lent it
 * may not have called one yet: so a grace period has to follow the stop.
 *
 * Context: process, may sleep.
 */
void rxe_run_end(struct rxe_side *side)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(side->works); i++)
		disable_work_sync(&side->works[i].work);
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
