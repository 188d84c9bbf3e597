// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The payload of a received packet, wherever in its skb it is: the headers are in
 * one piece, the rest may be in several.
 *
 * Stage:	between a packet and the memory of a consumer
 * In:		a packet whose ICRC is right
 * Out:		its payload, copied once
 * Context:	a side's run; process if the region is paged on demand, and then
 *		the packet is made one piece
 * Locks:	none
 * Never:	looks at the payload twice: who has sent it may still change it
 */
#include <linux/preempt.h>
#include <linux/skbuff.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_payload.h"
#include "rxe_pieces.h"
#include "rxe_sge.h"

/*
 * A region that is paged on demand may make its reader sleep, which must not be
 * between two pieces. No run that has bottom halves disabled and has begun without
 * such regions meets one, see rxe_run_odp_get(); the others' packets rxe_rcv()
 * makes linear, but for those that had arrived before.
 */
static noinline bool make_linear(struct rxe_pkt_info *pkt)
{
	struct sk_buff *skb = PKT_TO_SKB(pkt);

	if (skb_linearize(skb))
		return false;
	pkt->hdr = skb->data;
	return true;
}

/* Calls @copy for each piece, or once; returns what it fails with, or -ENOMEM */
static __always_inline int copy_pieces(struct rxe_pkt_info *pkt,
				       int (*copy)(void *to, u8 *piece,
						   u32 len), void *to)
{
	struct sk_buff *skb = PKT_TO_SKB(pkt);

	if (unlikely(READ_ONCE(pkt->rxe->odp_mrs) || !softirq_count()) &&
	    !make_linear(pkt))
		return -ENOMEM;

	return rxe_pieces(skb, (u8 *)payload_addr(pkt) - skb->data,
			  payload_size(pkt), copy, to);
}

struct to_mr {
	struct rxe_mr	*mr;
	u64		iova;
};

static int copy_to_mr(void *to, u8 *piece, u32 len)
{
	struct to_mr *into = to;
	u64 iova = into->iova;

	into->iova += len;
	return rxe_mr_copy(into->mr, iova, piece, len, RXE_TO_MR_OBJ);
}

static noinline int pieces_to_mr(struct rxe_pkt_info *pkt, struct rxe_mr *mr,
				 u64 iova)
{
	struct to_mr to = { .mr = mr, .iova = iova };

	return copy_pieces(pkt, copy_to_mr, &to);
}

/**
 * rxe_payload_to_mr() - Copy a packet's payload to a region
 * @pkt: the packet
 * @mr: the region
 * @iova: where in it
 *
 * Context: the receive side's run.
 * Return: 0, what rxe_mr_copy() fails with, or -ENOMEM
 */
int rxe_payload_to_mr(struct rxe_pkt_info *pkt, struct rxe_mr *mr, u64 iova)
{
	if (likely(!skb_is_nonlinear(PKT_TO_SKB(pkt))))
		return rxe_mr_copy(mr, iova, payload_addr(pkt),
				   payload_size(pkt), RXE_TO_MR_OBJ);

	return pieces_to_mr(pkt, mr, iova);
}

struct to_sge {
	struct rxe_pd		*pd;
	struct rxe_dma_info	*dma;
	struct rxe_mr		**held;
};

/* The list knows how far it is */
static int copy_to_sge(void *to, u8 *piece, u32 len)
{
	const struct to_sge *into = to;

	return rxe_sge_copy(into->pd, IB_ACCESS_LOCAL_WRITE, into->dma, piece,
			    len, RXE_TO_MR_OBJ, into->held);
}

static noinline int pieces_to_sge(struct rxe_pkt_info *pkt, struct rxe_pd *pd,
				  struct rxe_dma_info *dma,
				  struct rxe_mr **held)
{
	struct to_sge to = { .pd = pd, .dma = dma, .held = held };

	/* no part of what is too long */
	if (payload_size(pkt) > dma->resid)
		return -EINVAL;
	return copy_pieces(pkt, copy_to_sge, &to);
}

/**
 * rxe_payload_to_sge() - Copy a packet's payload to the next bytes of a WQE
 * @pkt: the packet
 * @pd: the QP's
 * @dma: the WQE's list and the place in it
 * @held: see rxe_mr_hold()
 *
 * Context: a side's run.
 * Return: 0, what rxe_sge_copy() fails with, or -ENOMEM; some of it may be
 * copied then
 */
int rxe_payload_to_sge(struct rxe_pkt_info *pkt, struct rxe_pd *pd,
		       struct rxe_dma_info *dma, struct rxe_mr **held)
{
	if (likely(!skb_is_nonlinear(PKT_TO_SKB(pkt))))
		return rxe_sge_copy(pd, IB_ACCESS_LOCAL_WRITE, dma,
				    payload_addr(pkt), payload_size(pkt),
				    RXE_TO_MR_OBJ, held);

	return pieces_to_sge(pkt, pd, dma, held);
}
