// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue as the driver sees it.
 *
 * Stage:	between the doorbell and the requester
 * In:		WQEs in a ring that a user may write to at any time
 * Out:		WQEs that nobody else writes to, checked, with their progress
 * Context:	the send side's run
 * Locks:	none
 * Never:	reads a word of the user's ring twice
 *
 * A user's WQE is copied when the requester comes to it. What the user does to
 * the ring afterwards is without effect; what it had written to the fields that
 * are the driver's (state, PSNs, what is left to send) is ignored from the
 * start. A kernel's ring is its own copy.
 */
#include <linux/vmalloc.h>

#include "rxe_sq.h"

/**
 * rxe_sq_alloc_copies() - Make room for copies of a user's WQEs
 * @sq: the send queue, with its ring
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM
 */
int rxe_sq_alloc_copies(struct rxe_sq *sq)
{
	const struct rxe_queue *q = sq->queue;

	sq->copies = kvcalloc(q->index_mask + 1, 1 << q->log2_elem_size,
			      GFP_KERNEL_ACCOUNT);
	if (!sq->copies)
		return -ENOMEM;

	sq->wqes = sq->copies;
	return 0;
}

/**
 * rxe_sq_free_copies() - Undo rxe_sq_alloc_copies()
 * @sq: the send queue, possibly of a kernel consumer, which has none
 */
void rxe_sq_free_copies(struct rxe_sq *sq)
{
	kvfree(sq->copies);
	sq->copies = NULL;
}

static bool is_inline(const struct rxe_send_wqe *wqe)
{
	return wqe->wr.send_flags & IB_SEND_INLINE;
}

/**
 * rxe_sq_check() - May a user's WQE be executed?
 * @sq: the send queue, for its limits
 * @type: of the QP
 * @wqe: a copy of the WQE up to its data
 *
 * The sum of the SGEs' lengths need not be the message's length; rxe_sge_copy()
 * bounds what it reads by both.
 *
 * Return: IB_WC_SUCCESS, or the status to complete it with
 */
enum ib_wc_status rxe_sq_check(const struct rxe_sq *sq, enum ib_qp_type type,
			       const struct rxe_send_wqe *wqe)
{
	u32 opcode = wqe->wr.opcode;
	u32 mask;

	/* the last one that a user may post; IB_WR_REG_MR carries a pointer */
	if (opcode > IB_WR_ATOMIC_WRITE)
		return IB_WC_LOC_QP_OP_ERR;

	mask = rxe_wr_opcode_info[opcode].mask[type];
	if (!mask)
		return IB_WC_LOC_QP_OP_ERR;
	if (mask & WR_LOCAL_OP_MASK)
		return IB_WC_SUCCESS;

	if (wqe->dma.num_sge > sq->max_sge)
		return IB_WC_LOC_QP_OP_ERR;
	/* a datagram that is too long is no error, see pretend_to_send() */
	if (wqe->dma.length > RXE_PORT_MAX_MSG_SZ && type != IB_QPT_UD)
		return IB_WC_LOC_LEN_ERR;
	if (opcode == IB_WR_ATOMIC_WRITE)
		return wqe->dma.length == sizeof(u64) ? IB_WC_SUCCESS :
							IB_WC_LOC_LEN_ERR;
	if (is_inline(wqe) && !(mask & WR_INLINE_MASK))
		return IB_WC_LOC_QP_OP_ERR;
	if (is_inline(wqe) && wqe->dma.length > sq->max_inline)
		return IB_WC_LOC_LEN_ERR;

	return IB_WC_SUCCESS;
}

/**
 * rxe_sq_iova() - Where a WQE begins at the peer
 * @wqe: the WQE
 *
 * Return: the address, or 0 for a WQE that has none
 */
u64 rxe_sq_iova(const struct rxe_send_wqe *wqe)
{
	if (wqe->mask & WR_ATOMIC_MASK)
		return wqe->wr.wr.atomic.remote_addr;
	if (wqe->mask & WR_FLUSH_MASK)
		return wqe->wr.wr.flush.remote_addr;
	if (wqe->mask & (WR_READ_OR_WRITE_MASK | WR_ATOMIC_WRITE_MASK))
		return wqe->wr.wr.rdma.remote_addr;
	return 0;
}

static void copy_data_part(struct rxe_dma_info *dma,
			   const struct rxe_dma_info *ring, bool is_inline)
{
	if (is_inline)
		memcpy(dma->inline_data, ring->inline_data, dma->length);
	else
		memcpy(dma->sge, ring->sge, dma->num_sge * sizeof(*dma->sge));
}

static void copy_wqe(struct rxe_qp *qp, struct rxe_send_wqe *wqe,
		     const struct rxe_send_wqe *ring)
{
	wqe->wr = ring->wr;
	/* from now on nobody, the compiler included, looks there again */
	barrier();
	wqe->dma.length = READ_ONCE(ring->dma.length);
	wqe->dma.num_sge = READ_ONCE(ring->dma.num_sge);
	wqe->dma.resid = wqe->dma.length;
	wqe->dma.cur_sge = 0;
	wqe->dma.sge_offset = 0;
	wqe->state = wqe_state_posted;
	wqe->has_rd_atomic = 0;
	wqe->mask = 0;
	wqe->iova = 0;

	wqe->status = rxe_sq_check(&qp->sq, qp_type(qp), wqe);
	if (wqe->status != IB_WC_SUCCESS)
		return;

	wqe->mask = wr_opcode_mask(wqe->wr.opcode, qp);
	wqe->iova = rxe_sq_iova(wqe);
	if (!(wqe->mask & WR_LOCAL_OP_MASK))
		copy_data_part(&wqe->dma, &ring->dma, is_inline(wqe) ||
			       wqe->wr.opcode == IB_WR_ATOMIC_WRITE);
}

/**
 * rxe_sq_read() - The WQE that the requester has come to
 * @qp: the QP
 *
 * Return: the WQE, with its status, if that has been posted; or NULL
 */
struct rxe_send_wqe *rxe_sq_read(struct rxe_qp *qp)
{
	struct rxe_queue *q = qp->sq.queue;
	u32 index = qp->req.wqe_index;
	struct rxe_send_wqe *wqe;

	if (index == qp->sq.read) {
		if (!rxe_sq_pending(qp))
			return NULL;
		qp->sq.read = queue_next_index(q, index);
		wqe = rxe_sq_wqe(&qp->sq, index);
		if (qp->sq.copies)
			copy_wqe(qp, wqe, queue_addr_from_index(q, index));
		return wqe;
	}

	return rxe_sq_wqe(&qp->sq, index);
}

/**
 * rxe_sq_drop() - Take the oldest WQE out of the queue, read or not
 * @qp: the QP, which executes no more
 * @wc: its wr_id and status are set to the WQE's: a flush error, or what is
 *	wrong with it if that is what has stopped the QP
 *
 * The requester goes on behind it.
 *
 * Return: false if there was none
 */
bool rxe_sq_drop(struct rxe_qp *qp, struct ib_wc *wc)
{
	struct rxe_queue *q = qp->sq.queue;
	const struct rxe_send_wqe *wqe;
	u32 next;

	if (queue_empty(q, QUEUE_TYPE_FROM_CLIENT))
		return false;

	wc->status = IB_WC_WR_FLUSH_ERR;
	wqe = rxe_sq_oldest(&qp->sq);
	if (wqe) {
		if (wqe->state == wqe_state_error)
			wc->status = wqe->status;
	} else {
		wqe = queue_consumer_addr(q, QUEUE_TYPE_FROM_CLIENT);
		qp->sq.read = queue_next_index(q, qp->sq.read);
	}
	wc->wr_id = READ_ONCE(wqe->wr.wr_id);

	next = queue_next_index(q, rxe_sq_consumer(&qp->sq));
	if (qp->req.wqe_index == rxe_sq_consumer(&qp->sq))
		qp->req.wqe_index = next;
	queue_advance_consumer(q, QUEUE_TYPE_FROM_CLIENT);
	return true;
}
