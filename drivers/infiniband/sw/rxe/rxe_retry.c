// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What RC does about an answer that is late, or that says that a packet is lost.
 *
 * Stage:	the completer, and the end of a run of the send side
 * In:		timeouts, NAKs, drops of this host, the ACK of what was sent again
 * Out:		the oldest packet once more, or the requester goes back to it; a
 *		smaller window; a timer
 * Context:	the send side's run
 * Locks:	none
 * Never:	completes a WQE
 *
 * rxe_rto.h tells when, rxe_window.c how many may be un-ACKed afterwards.
 */
#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_retry.h"
#include "rxe_trace.h"
#include "rxe_tx.h"
#include "rxe_zerocopy.h"

/* A QP without one waits for its peer for ever, but not for this host */
static unsigned long timeout_of(const struct rxe_qp *qp)
{
	return qp->qp_timeout_jiffies ?: MAX_JIFFY_OFFSET;
}

/**
 * rxe_retry_set_timer() - Have the send side look when an answer is overdue
 * @qp: the QP
 *
 * The end of the QP deletes the timer when this side has stopped.
 */
void rxe_retry_set_timer(struct rxe_qp *qp)
{
	if (qp->qp_timeout_jiffies || qp->comp.rto.dropped)
		mod_timer(&qp->retrans_timer,
			  rxe_rto_ends(&qp->comp.rto, timeout_of(qp)));
}

/**
 * rxe_retry_overdue() - Is the answer that is awaited now overdue?
 * @qp: the QP
 *
 * The timer may have been set for an older one.
 */
bool rxe_retry_overdue(const struct rxe_qp *qp)
{
	return time_after_eq(jiffies, rxe_rto_ends(&qp->comp.rto,
						   timeout_of(qp)));
}

/**
 * rxe_retry_counts() - Is a retry one of the QP's retry_cnt?
 * @qp: the QP
 *
 * One that came before the QP's timeout is no reason to give up.
 */
bool rxe_retry_counts(struct rxe_qp *qp)
{
	return !qp->comp.timeout_retry ||
	       rxe_rto_expired(&qp->comp.rto, timeout_of(qp), jiffies);
}

static void note_loss(struct rxe_qp *qp)
{
	if (qp->comp.resent)
		rxe_window_lost(&qp->req.window, rxe_next_psn(qp));
	else
		rxe_window_overflowed(&qp->req.window, rxe_next_psn(qp));
	trace_rxe_window(qp);
}

static void note_silence(struct rxe_qp *qp)
{
	rxe_window_silent(&qp->req.window, rxe_next_psn(qp));
	trace_rxe_window(qp);
}

/* The requester goes back to the oldest packet that is un-ACKed */
static void retry_all(struct rxe_qp *qp)
{
	rxe_tx_retry(&qp->req.tx,
		     (qp->comp.psn - qp->comp.retry_psn) & BTH_PSN_MASK);
	qp->comp.retry_psn = qp->comp.psn;
	qp->comp.resent = false;
	qp->comp.started_retry = 1;
	qp->req.need_retry = 1;
	qp->req.again = 1;
}

/* How many packets; of the data of a READ what comes before those held */
static u32 missing(const struct rxe_qp *qp, const struct rxe_send_wqe *wqe)
{
	u32 end = wqe->last_psn + 1;

	if (!(wqe->mask & WR_READ_MASK))
		return 1;

	if (!rxe_hold_empty(&qp->comp.hold) &&
	    psn_compare(rxe_hold_first(&qp->comp.hold), end) < 0)
		end = rxe_hold_first(&qp->comp.hold);
	return (end - qp->comp.psn) & BTH_PSN_MASK;
}

/* The peer may have what came after it, and then its answer tells */
static bool retry_oldest(struct rxe_qp *qp, struct rxe_send_wqe *wqe)
{
	u32 packets = missing(qp, wqe);

	if (qp->comp.rto.dropped || qp->req.wait_for_rnr_timer ||
	    !rxe_resend(qp, wqe, packets))
		return false;

	qp->comp.resent = true;
	qp->comp.resent_late = qp->comp.timeout_retry;
	qp->comp.resent_psn = (qp->comp.psn + packets - 1) & BTH_PSN_MASK;
	qp->comp.started_retry = 1;
	return true;
}

/**
 * rxe_retry() - Send again what the peer seems to lack
 * @qp: the QP
 * @wqe: its oldest WQE
 */
void rxe_retry(struct rxe_qp *qp, struct rxe_send_wqe *wqe)
{
	bool late = qp->comp.timeout_retry && !qp->comp.rto.dropped;

	qp->req.copies = RXE_ZEROCOPY_COPIES;
	if (!retry_oldest(qp, wqe))
		retry_all(qp);

	/* an answer may just be late */
	if (!late)
		note_loss(qp);
	else if (!qp->comp.resent)
		note_silence(qp);
	qp->comp.rto.dropped = false;
}

/**
 * rxe_retry_acked() - The packet that was sent again has been ACKed
 * @qp: the QP, of which one was
 *
 * If it is all that the peer has got, what came after it was lost as well. What
 * is held says that it was not.
 */
void rxe_retry_acked(struct rxe_qp *qp)
{
	qp->comp.resent = false;
	if (qp->comp.psn != ((qp->comp.resent_psn + 1) & BTH_PSN_MASK) ||
	    !rxe_hold_empty(&qp->comp.hold) ||
	    psn_compare(qp->req.psn, qp->comp.psn) <= 0)
		return;

	if (qp->comp.resent_late)
		note_silence(qp);
	else
		note_loss(qp);
	retry_all(qp);
}

/**
 * rxe_retry_missed() - A later part of what was asked for again has come
 * @qp: the QP, of which something was
 *
 * What comes before that may be asked for once more.
 */
void rxe_retry_missed(struct rxe_qp *qp)
{
	qp->comp.resent = false;
	qp->comp.started_retry = 0;
}

/**
 * rxe_retry_dropped() - This host has dropped a packet
 * @qp: the QP
 *
 * RC makes up for it before anybody misses it.
 */
void rxe_retry_dropped(struct rxe_qp *qp)
{
	qp->req.tx.dropped = false;
	if (qp_type(qp) != IB_QPT_RC)
		return;

	rxe_window_overflowed(&qp->req.window, rxe_next_psn(qp));
	trace_rxe_window(qp);
	rxe_rto_drop(&qp->comp.rto, jiffies);
	rxe_retry_set_timer(qp);
}
