// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A packet whose payload stays where its consumer has it.
 *
 * Stage:	tx, in place of the copy of a payload into the packet
 * In:		the next bytes of a message
 * Out:		the pages they are in, as fragments of the packet
 * Context:	the send side's run
 * Locks:	none
 * Never:	for what is sent again, for what completes when it is sent, or for
 *		what is looped back
 *
 * The fragments have references to the pages, which so outlive the region, but
 * what is in them is the consumer's. Until the message completes he must not
 * change it; if he does, the ICRC is wrong, the peer drops the packet, and the retry
 * is a copy, as is all that follows it for a while.
 *
 * A packet may still be in a queue of this host when its message completes: the
 * peer has ACKed what it has not got, or the queue pair has failed. Then what the
 * consumer has put there since leaves with a wrong ICRC. Who must not have that
 * happen switches the device's scatter-gather off (ethtool(8)), and all is copied.
 *
 * A page of a slab has no references, and one of persistent memory is counted by
 * others.
 */
#include <linux/etherdevice.h>
#include <linux/memremap.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_seg.h"
#include "rxe_zerocopy.h"

/* What follows the payload: up to 3 bytes of pad and the ICRC */
#define TRAILER_BYTES	8

/* Packets whose trailers are allocated together: those of a 64 KiB message */
#define TRAILERS	16

/*
 * Without that feature the stack would copy the packet. What is looped back may
 * wait in this host until long after it was sent. A device that cuts units takes
 * more packets of a message at once if each is one fragment, not four.
 */
static noinline void ask_device(struct rxe_zerocopy_run *run,
				const struct rxe_qp *qp)
{
	const struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(qp->sgid_attr->ndev);
	run->takes = ndev && ndev->features & NETIF_F_SG &&
		     !ether_addr_equal(ndev->dev_addr, qp->pri_av.dmac);
	run->cuts = ndev && rxe_seg_wanted(ndev);
	rcu_read_unlock();
	run->asked = true;
}

static bool device_takes_fragments(struct rxe_qp *qp, bool several)
{
	struct rxe_zerocopy_run *run = &qp->req.zerocopy;

	if (unlikely(!run->asked))
		ask_device(run, qp);
	return run->takes && !(several && run->cuts);
}

/* After a retry, which may be for what the consumer has done to his buffer */
static bool copies_for_a_while(struct rxe_qp *qp)
{
	if (likely(!qp->req.copies))
		return false;

	qp->req.copies--;
	return true;
}

static bool may_be_zerocopy(struct rxe_qp *qp,
			    const struct rxe_send_wqe *wqe, u32 payload)
{
	const struct rxe_dma_info *dma = &wqe->dma;

	return qp_type(qp) == IB_QPT_RC &&
	       wqe->mask & WR_WRITE_OR_SEND_MASK &&
	       !(wqe->wr.send_flags & IB_SEND_INLINE) &&
	       payload <= dma->resid &&
	       psn_compare(qp->req.psn, qp->req.high) >= 0 &&
	       !copies_for_a_while(qp) &&
	       device_takes_fragments(qp, payload < dma->length);
}

/* The SGE of the next bytes; the place is at them, not at the end of another */
static const struct rxe_sge *next_bytes(struct rxe_dma_info *dma)
{
	while (dma->cur_sge < dma->num_sge) {
		const struct rxe_sge *sge = &dma->sge[dma->cur_sge];

		if (likely(dma->sge_offset < sge->length))
			return sge;
		dma->cur_sge++;
		dma->sge_offset = 0;
	}
	return NULL;
}

static bool pages_have_references(const struct rxe_zerocopy *zc)
{
	unsigned int i;

	for (i = 0; i < zc->count; i++) {
		struct page *page = zc->pages[i].bv_page;

		if (!sendpage_ok(page) || is_zone_device_page(page))
			return false;
	}
	return true;
}

/* With a reference, or NULL */
static void *take_trailer(struct rxe_zerocopy_run *run)
{
	void *trailer;

	if (!run->trailers) {
		run->trailer = netdev_alloc_frag(TRAILERS * TRAILER_BYTES);
		if (!run->trailer)
			return NULL;
		run->trailers = TRAILERS;
	}

	trailer = run->trailer;
	run->trailer += TRAILER_BYTES;
	if (--run->trailers)
		get_page(virt_to_head_page(trailer));
	return trailer;
}

/* As rxe_zerocopy_rest(), if there are any */
void rxe_zerocopy_free_trailers(struct rxe_zerocopy_run *run)
{
	page_frag_free(run->trailer);
	run->trailers = 0;
}

/* As rxe_zerocopy_find(), of so many bytes that it may pay */
bool rxe_zerocopy_find_pages(struct rxe_zerocopy *zc, struct rxe_qp *qp,
			     struct rxe_send_wqe *wqe, u32 payload)
{
	struct rxe_dma_info *dma = &wqe->dma;
	const struct rxe_sge *sge;
	struct rxe_mr *mr;

	zc->count = 0;
	if (!may_be_zerocopy(qp, wqe, payload))
		return false;

	sge = next_bytes(dma);
	if (!sge || payload > sge->length - dma->sge_offset)
		return false;

	mr = rxe_mr_hold(&qp->req.held, qp->pd, 0, sge->lkey,
			 RXE_LOOKUP_LOCAL);
	if (!mr)
		return false;

	zc->count = rxe_mr_pages(mr, sge->addr + dma->sge_offset, payload,
				 zc->pages, RXE_ZEROCOPY_PAGES);
	if (!zc->count || !pages_have_references(zc))
		goto copy;

	zc->trailer = take_trailer(&qp->req.zerocopy);
	if (!zc->trailer)
		goto copy;

	return true;

copy:
	zc->count = 0;
	return false;
}

static void add_trailer(struct sk_buff *skb, int i, void *trailer,
			unsigned int len)
{
	struct page *page = virt_to_head_page(trailer);

	memset(trailer, 0, TRAILER_BYTES);
	skb_fill_page_desc_noacc(skb, i, page, trailer - page_address(page),
				 len);
}

/**
 * rxe_zerocopy_attach() - Have a packet refer to its payload
 * @zc: of rxe_zerocopy_find(), with pages
 * @pkt: the packet
 * @skb: its skb, with the headers from the BTH on
 *
 * Its WQE advances.
 */
void rxe_zerocopy_attach(const struct rxe_zerocopy *zc,
			 struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	struct rxe_dma_info *dma = &pkt->wqe->dma;
	unsigned int len = pkt->paylen - skb->len;
	unsigned int payload = payload_size(pkt);
	unsigned int i;

	for (i = 0; i < zc->count; i++) {
		const struct bio_vec *part = &zc->pages[i];

		get_page(part->bv_page);
		__skb_fill_page_desc_noacc(skb_shinfo(skb), i, part->bv_page,
					   part->bv_offset, part->bv_len);
	}

	add_trailer(skb, i, zc->trailer, bth_pad(pkt) + RXE_ICRC_SIZE);
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	skb_len_add(skb, len);
	dma->sge_offset += payload;
	dma->resid -= payload;
}
