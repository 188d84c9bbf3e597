// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A doorbell: its lane depends on what the poster is about to do, which nobody
 * says and its former doorbells tell (rxe_poster.h).
 *
 * Stage:	between ib_post_send() and the send side's run
 * In:		a QP, with WQEs in its SQ
 * Out:		a kick of its send side
 * Context:	any; process for a user's QP
 * Locks:	cq_lock
 * Never:	completes anything in the call of a kernel consumer
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "rxe.h"
#include "rxe_doorbell.h"
#include "rxe_queue.h"
#include "rxe_run.h"
#include "rxe_sq.h"

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

/* In the user's ring: what it says may change or be wrong */
static const struct rxe_send_wqe *last_posted(const struct rxe_qp *qp)
{
	struct rxe_queue *sq = qp->sq.queue;
	u32 end = queue_get_producer(sq, QUEUE_TYPE_FROM_CLIENT);

	return queue_addr_from_index(sq, end - 1);
}

/* It asked for a completion of what it posts now, and has seen all so far */
static bool awaits_completion(const struct rxe_qp *qp)
{
	return READ_ONCE(last_posted(qp)->wr.send_flags) & IB_SEND_SIGNALED &&
	       all_completions_seen(qp->scq);
}

/* A poster that posts on and on, and will sleep: all leaves together then */
static void post_before_sleep(struct rxe_qp *qp)
{
	struct rxe_poster *poster = &qp->poster;
	bool quick = rxe_poster_awake(poster, current->nvcsw);
	bool streams = rxe_poster_streams(poster, quick) &&
		       !awaits_completion(qp);

	if (streams || rxe_side_waits(&qp->send_side.state))
		rxe_run_in_work(&qp->send_side, RXE_KICK_POST);
	else
		rxe_run_here(&qp->send_side, RXE_KICK_POST);
}

/* A batch of its own; a user who lies has it sent sooner or later */
static bool is_long(const struct rxe_qp *qp)
{
	return READ_ONCE(last_posted(qp)->dma.length) > qp->mtu;
}

/*
 * A poster that polls keeps the CPU until its time slice ends, so what it posts
 * is sent by itself. One by one each would take the whole way to the other end
 * and its ACK the way back; what is posted on and on goes there in batches.
 */
static void post_before_poll(struct rxe_qp *qp)
{
	struct rxe_poster *poster = &qp->poster;
	u64 now = ktime_get_ns();
	bool quick = rxe_poster_hurried(poster, now);
	bool streams = rxe_poster_streams(poster, quick) && quick;
	u32 waiting = rxe_sq_pending(qp);
	bool mine;
	u64 end;

	rxe_poster_counts(poster, quick);
	if (streams && rxe_poster_corks(poster, waiting) && !is_long(qp) &&
	    !awaits_completion(qp)) {
		rxe_run_corked(&qp->send_side, RXE_KICK_POST,
			       rxe_poster_until(poster, now));
		end = now;
	} else {
		mine = rxe_run_here(&qp->send_side, RXE_KICK_POST);
		end = ktime_get_ns();
		if (mine)
			rxe_poster_ran(poster, max(waiting, 1U), now, end);
	}
	rxe_poster_left(poster, end);
}

/*
 * What is corked is sent by a timer's softirq if nothing else happens, which must
 * not have to wait for the poster.
 */
static bool may_cork(void)
{
	return hrtimer_resolution < NSEC_PER_USEC &&
	       !IS_ENABLED(CONFIG_PREEMPT_RT);
}

static void post_on_only_cpu(struct rxe_qp *qp)
{
	if (READ_ONCE(qp->scq->notify))
		post_before_sleep(qp);
	else if (may_cork())
		post_before_poll(qp);
	else
		rxe_run_here(&qp->send_side, RXE_KICK_POST);
}

/*
 * A poster that waits for its message is served best by a run at once. What
 * others post is sent by a worker, as much as it finds, on another CPU if one is
 * idle; if none comes, by the poster once it is a batch, or by the softirq that
 * brings an ACK.
 */
static void post_on_one_of_many(struct rxe_qp *qp)
{
	struct rxe_poster *poster = &qp->poster;
	u64 now = ktime_get_ns();
	bool quick = rxe_poster_hurried(poster, now);
	bool streams = rxe_poster_streams(poster, quick) &&
		       !awaits_completion(qp);
	u32 waiting = rxe_sq_pending(qp);

	rxe_poster_counts(poster, quick);
	if ((streams || has_unacked(qp)) &&
	    rxe_poster_corks(poster, waiting) && !is_long(qp))
		rxe_run_in_work(&qp->send_side, RXE_KICK_POST);
	else if (rxe_run_here(&qp->send_side, RXE_KICK_POST))
		rxe_poster_ran(poster, max(waiting, 1U), now, ktime_get_ns());
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
		rxe_run_in_work(&qp->send_side, RXE_KICK_POST);
	else
		rxe_run_kick(&qp->send_side, RXE_KICK_POST);
}

/**
 * rxe_doorbell() - Send what has been posted
 * @qp: the QP
 *
 * Context: any; process for a user's QP.
 */
void rxe_doorbell(struct rxe_qp *qp)
{
	if (!qp->is_user)
		post_from_kernel(qp);
	else if (num_online_cpus() == 1)
		post_on_only_cpu(qp);
	else
		post_on_one_of_many(qp);
}
