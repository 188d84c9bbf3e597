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
#include "rxe_queue.h"
#include "rxe_run.h"

/*
 * Passes of one run in the caller's context; the workqueue does the rest. A
 * pass sends at most one packet and handles at most one. Nothing drains the
 * backlog behind a veth device (1000 packets) meanwhile: not during a run from
 * a doorbell, nor while up to 64 packets are delivered of which each may start
 * a run. Enough for a READ of 64 KiB to be answered at once.
 */
#define POST_BUDGET	64
#define RX_BUDGET	24

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
 * rxe_run_rx_inline() - May a received packet be handled where it arrived?
 * @pkt: the packet, not yet queued to its QP
 *
 * A packet looped back arrives inside the sender's task, and one of a
 * multicast group under the lock of the groups.
 *
 * Context: any.
 * Return: what to tell rxe_run_rx() once the packet is queued; by then another
 * CPU may have taken the packet and freed it.
 */
bool rxe_run_rx_inline(struct rxe_pkt_info *pkt)
{
	if (!in_softirq() || irqs_disabled())
		return false;
	if (pkt->mask & RXE_LOOPBACK_MASK || bth_qpn(pkt) == IB_MULTICAST_QPN)
		return false;

	return !task_may_sleep(pkt->qp);
}

/**
 * rxe_run_rx() - Handle packets that were queued to a QP
 * @task: the QP's receive task for requests, its send task for responses
 * @run_inline: what rxe_run_rx_inline() said
 *
 * Context: any; bottom halves disabled if @run_inline.
 */
void rxe_run_rx(struct rxe_task *task, bool run_inline)
{
	if (run_inline)
		rxe_run_task(task, RX_BUDGET);
	else
		rxe_sched_task(task);
}
