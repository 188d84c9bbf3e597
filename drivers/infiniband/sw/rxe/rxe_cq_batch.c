// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completions on their way from a side of a QP to a CQ.
 *
 * Stage:	completion
 * In:		completions as the kernel has them (struct ib_wc)
 * Out:		CQEs in the CQ's ring, in its consumer's layout; a notification
 *		if the consumer has asked for it
 * Context:	the side's run
 * Locks:	cq_lock, once per batch
 * Never:	calls a consumer; keeps a completion when the side has nothing
 *		left to do
 */
#include "rxe.h"
#include "rxe_cq_batch.h"
#include "rxe_loc.h"
#include "rxe_notify.h"
#include "rxe_queue.h"
#include "rxe_trace.h"

/* enum ibv_wc_flags of libibverbs; its numbers are in no header of the kernel */
#define USER_WC_GRH		BIT(0)
#define USER_WC_WITH_IMM	BIT(1)
#define USER_WC_WITH_INV	BIT(3)

/* From enum ib_wc_flags */
static u32 user_flags(unsigned int flags)
{
	u32 user = 0;

	if (flags & IB_WC_GRH)
		user |= USER_WC_GRH;
	if (flags & IB_WC_WITH_IMM)
		user |= USER_WC_WITH_IMM;
	if (flags & IB_WC_WITH_INVALIDATE)
		user |= USER_WC_WITH_INV;
	return user;
}

static void write_user_cqe(struct ib_uverbs_wc *cqe, const struct ib_wc *wc)
{
	*cqe = (struct ib_uverbs_wc){
		.wr_id		= wc->wr_id,
		.status		= wc->status,
		.opcode		= wc->opcode,
		.byte_len	= wc->byte_len,
		.ex.imm_data	= wc->ex.imm_data,
		.qp_num		= wc->qp->qp_num,
		.src_qp		= wc->src_qp,
		.wc_flags	= user_flags(wc->wc_flags),
		.port_num	= wc->port_num,
	};
}

static void write_cqe(struct rxe_cq *cq, const struct ib_wc *wc)
{
	struct rxe_cqe *cqe = queue_producer_addr(cq->queue,
						  QUEUE_TYPE_TO_CLIENT);

	if (cq->is_user)
		write_user_cqe(&cqe->uibwc, wc);
	else
		cqe->ibwc = *wc;
	queue_advance_producer(cq->queue, QUEUE_TYPE_TO_CLIENT);
}

static unsigned int write_cqes(struct rxe_cq *cq,
			       const struct rxe_cq_batch *batch)
{
	unsigned int n = 0;

	lockdep_assert_held(&cq->cq_lock);
	while (n < batch->n && !queue_full(cq->queue, QUEUE_TYPE_TO_CLIENT))
		write_cqe(cq, &batch->wc[n++]);
	return n;
}

/* Returns whether the consumer has to be told, and then disarms the CQ */
static bool disarm(struct rxe_cq *cq, bool solicited)
{
	bool armed = cq->notify & IB_CQ_NEXT_COMP ||
		     (cq->notify & IB_CQ_SOLICITED && solicited);

	lockdep_assert_held(&cq->cq_lock);
	if (armed)
		cq->notify = 0;
	return armed;
}

/**
 * rxe_cq_batch_flush() - Write all completions of a batch to the CQ
 * @batch: the side's batch; empty afterwards
 * @cq: the side's CQ
 *
 * The consumer finds them at once if it polls; rxe_cq_batch_tell() wakes it.
 *
 * Context: the side's run, no lock held.
 * Return: 0, or -EBUSY if the CQ had no room for all of them. Then the rest is
 * lost, the consumer hears of it (IB_EVENT_CQ_ERR), and the QP must go to the
 * error state (IBTA 11.6.3.2).
 */
int rxe_cq_batch_flush(struct rxe_cq_batch *batch, struct rxe_cq *cq)
{
	unsigned int all = batch->n;
	unsigned int written;
	unsigned long flags;

	if (!all)
		return 0;

	spin_lock_irqsave(&cq->cq_lock, flags);
	written = write_cqes(cq, batch);
	trace_rxe_cqe(cq, written, batch->solicited);
	batch->tell |= written && disarm(cq, batch->solicited);
	spin_unlock_irqrestore(&cq->cq_lock, flags);

	batch->n = 0;
	batch->solicited = false;
	if (likely(written == all))
		return 0;

	rxe_err_cq(cq, "queue full\n");
	rxe_notify(&cq->calls, RXE_NOTIFY_OVERFLOW);
	return -EBUSY;
}

/**
 * rxe_cq_batch_tell() - Tell the consumer what has been written, if it waits
 * @batch: the side's batch
 * @cq: the side's CQ
 *
 * Has to follow each flush, within the same run.
 *
 * Context: the side's run, no lock held.
 */
void rxe_cq_batch_tell(struct rxe_cq_batch *batch, struct rxe_cq *cq)
{
	if (batch->tell)
		rxe_notify(&cq->calls, RXE_NOTIFY_COMP);
	batch->tell = false;
}

/**
 * rxe_cq_batch_add() - Add a completion to a batch
 * @batch: the side's batch
 * @cq: the side's CQ
 * @wc: the completion
 * @solicited: the peer asked to tell the consumer
 *
 * Context: as rxe_cq_batch_flush(), which a full batch calls.
 * Return: 0 or -EBUSY, see rxe_cq_batch_flush()
 */
int rxe_cq_batch_add(struct rxe_cq_batch *batch, struct rxe_cq *cq,
		     const struct ib_wc *wc, bool solicited)
{
	batch->wc[batch->n++] = *wc;
	/* so is one in error, see ibv_req_notify_cq(3) */
	batch->solicited |= solicited || wc->status != IB_WC_SUCCESS;

	return batch->n < RXE_CQ_BATCH ? 0 : rxe_cq_batch_flush(batch, cq);
}

/**
 * rxe_cq_arm() - Have the consumer told of the next completion
 * @cq: the CQ
 * @flags: of which, as for ib_req_notify_cq()
 *
 * Whatever is written before is found by who looks at the CQ under this lock,
 * and whatever is written after finds the CQ armed.
 *
 * Context: any.
 * Return: 1 if there are completions and @flags ask for that, else 0
 */
int rxe_cq_arm(struct rxe_cq *cq, enum ib_cq_notify_flags flags)
{
	unsigned long irq_flags;
	bool empty;

	spin_lock_irqsave(&cq->cq_lock, irq_flags);
	cq->notify |= flags & IB_CQ_SOLICITED_MASK;
	empty = queue_empty(cq->queue, QUEUE_TYPE_TO_ULP);
	spin_unlock_irqrestore(&cq->cq_lock, irq_flags);

	return !empty && flags & IB_CQ_REPORT_MISSED_EVENTS;
}
