// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where a QP's send or receive task runs: at once in its caller's context,
 * or later in the workqueue.
 *
 * Stage:	between the doorbell or a received packet and the task
 * In:		a doorbell; a packet in the QP's queue
 * Out:		a run of the task, bounded by a budget, or a work item
 * Context:	any; a run at once has bottom halves disabled throughout
 * Locks:	odp_lock (process context)
 * Never:	runs a task from an skb destructor, a timer, with interrupts
 *		off, or where a packet is looped back to its sender's host
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "rxe.h"
#include "rxe_poll.h"
#include "rxe_queue.h"
#include "rxe_run.h"

/*
 * Passes of one run in the poster's context; the workqueue does the rest, in
 * pieces. A pass sends at most one packet, and nothing drains the backlog
 * behind a veth device (1000 packets) meanwhile.
 */
#define POST_BUDGET	64
#define WORK_BUDGET	64

/**
 * rxe_run_odp_get() - Keep a device's tasks in process context
 * @rxe: the device
 *
 * A task that meets a region with on-demand paging sleeps on its umem_mutex.
 * So while a device has one, none of its tasks runs with bottom halves
 * disabled. To be called before the region can be found by its key; such runs
 * are RCU readers, so that after a grace period all of them know.
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
 * @rxe: the device; no task holds the region any more
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
static bool task_may_sleep(const struct rxe_qp *qp)
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

/*
 * A kernel consumer's completion handler may take the locks that its own
 * ib_post_send() is called under (Documentation/infiniband/core_locking.rst),
 * so only a user's doorbell may complete anything.
 */
static bool may_run_post(const struct rxe_qp *qp)
{
	return qp->is_user && in_task() && !irqs_disabled() && !softirq_count();
}

/* Bottom halves off: the receivers that the device wakes wait for the end */
static void run_in_poster(struct rxe_qp *qp)
{
	local_bh_disable();
	if (task_may_sleep(qp))
		rxe_sched_task(&qp->send_task);
	else
		rxe_run_task(&qp->send_task, POST_BUDGET);
	local_bh_enable();
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
		rxe_sched_task(&qp->send_task);
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
		rxe_sched_task(&qp->send_task);
	} else {
		run_in_poster(qp);
		rxe_poster_ran(poster, now, ktime_get_ns());
	}
	rxe_poster_left(poster, ktime_get_ns());
}

/**
 * rxe_run_post() - Handle a doorbell: send what has been posted
 * @qp: the QP; the caller holds a reference
 *
 * Context: any.
 */
void rxe_run_post(struct rxe_qp *qp)
{
	if (!may_run_post(qp))
		rxe_sched_task(&qp->send_task);
	else if (num_online_cpus() == 1)
		post_on_only_cpu(qp);
	else
		post_on_one_of_many(qp);
}

/**
 * rxe_run_work() - Run a task that was left to the workqueue
 * @task: the task, reserved for this run
 *
 * What a run sends over a virtual device waits there for the end of the run, so
 * that the receivers meet many packets and not one by one.
 *
 * Context: process.
 */
void rxe_run_work(struct rxe_task *task)
{
	bool may_sleep;

	local_bh_disable();
	may_sleep = task_may_sleep(task->qp);
	if (!may_sleep)
		rxe_do_task(task, WORK_BUDGET);
	local_bh_enable();

	if (may_sleep)
		rxe_do_task(task, RXE_MAX_ITERATIONS);
}

/**
 * rxe_run_rx() - Handle packets that were queued to a QP
 * @task: the QP's receive task for requests, its send task for responses; the
 *	caller holds a reference to the QP
 * @poll: whether the CPU's poll may run it. Not if the packet was looped back,
 *	which happens inside the sender's task, or came for a multicast group,
 *	whose QPs are held by the lock of the groups.
 *
 * Context: any; softirq if @poll.
 */
void rxe_run_rx(struct rxe_task *task, bool poll)
{
	if (!poll || !rxe_poll_add(task))
		rxe_sched_task(task);
}

/**
 * rxe_run_polled() - Run a task that waited for the CPU's poll
 * @task: the task; its reference to the QP is given back
 * @budget: passes
 *
 * Context: softirq.
 */
void rxe_run_polled(struct rxe_task *task, unsigned int budget)
{
	struct rxe_qp *qp = task->qp;

	if (task_may_sleep(qp))
		rxe_sched_task(task);
	else
		rxe_run_task(task, budget);
	rxe_put(qp);
}
