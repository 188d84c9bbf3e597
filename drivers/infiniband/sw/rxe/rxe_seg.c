// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Units that a device cuts into packets: UDP segmentation offload, see
 * Documentation/networking/segmentation-offloads.rst.
 *
 * Stage:	tx, the other form of a unit of rxe_tx.c
 * In:		packets of one length, of which the last may be shorter
 * Out:		one that has what their UDP headers are followed by, one after
 *		the other, and says where to cut
 * Context:	the side's run, which has interrupts enabled
 * Locks:	none, but a CPU's own with PREEMPT_RT; only the run has the packets
 * Never:	changes a byte from the BTH to the ICRC
 *
 * Who cuts repeats the headers, counts the ids up, and computes the checksum of
 * UDP, which such a unit has to have; the ICRC does not cover that. Between virtual
 * machines nobody cuts, and nobody computes it.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include <net/sock.h>
#include <net/udp.h>

#include "rxe.h"
#include "rxe_seg.h"
#include "rxe_tx.h"

/* Where this CPU's packets are; netdev_alloc_frag() has none above a page's size */
struct pages {
	local_lock_t		lock;
	struct page_frag	frag;
};

static DEFINE_PER_CPU(struct pages, pages) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* From pages of a higher order, or NULL; with a reference */
static void *alloc_data(unsigned int size)
{
	struct page_frag *frag;
	void *data = NULL;

	local_bh_disable();
	local_lock_nested_bh(&pages.lock);
	frag = this_cpu_ptr(&pages.frag);
	if (unlikely(!skb_page_frag_refill(size, frag, GFP_ATOMIC))) {
		/* there is no memory at all */
	} else if (unlikely(frag->offset + size > frag->size)) {
		/* a page alone, which would be offered again and again */
		put_page(frag->page);
		frag->page = NULL;
	} else {
		data = page_address(frag->page) + frag->offset;
		frag->offset += size;
		get_page(frag->page);
	}
	local_unlock_nested_bh(&pages.lock);
	local_bh_enable();
	return data;
}

/**
 * rxe_seg_alloc() - Make an empty packet that can become a fragment
 * @len: bytes, with the headroom
 *
 * Context: process or softirq, interrupts enabled.
 * Return: its skb or NULL
 */
struct sk_buff *rxe_seg_alloc(unsigned int len)
{
	unsigned int size = SKB_HEAD_ALIGN(len);
	void *data = alloc_data(size);
	struct sk_buff *skb;

	if (unlikely(!data))
		return NULL;

	skb = build_skb(data, size);
	if (unlikely(!skb))
		put_page(virt_to_head_page(data));
	return skb;
}

/**
 * rxe_seg_exit() - Give back what no packet is in
 *
 * Context: process, no packets are made any more.
 */
void rxe_seg_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *frag = &per_cpu(pages, cpu).frag;

		if (frag->page)
			put_page(frag->page);
	}
}

/**
 * rxe_seg_join() - Add a packet that fits
 * @head: the first packet of the unit
 * @skb: the packet, from the BTH on; consumed if it is added
 *
 * Context: the side's run.
 * Return: false if it is not of rxe_seg_alloc(), or there is no room
 */
bool rxe_seg_join(struct sk_buff *head, struct sk_buff *skb)
{
	bool stolen;
	int delta;

	if (!skb_try_coalesce(head, skb, &stolen, &delta))
		return false;

	kfree_skb_partial(skb, stolen);
	return true;
}

static __sum16 checksum_of_pseudo_header(const struct sk_buff *skb, u32 len)
{
	if (skb->protocol == htons(ETH_P_IP))
		return udp_v4_check(len, ip_hdr(skb)->saddr,
				    ip_hdr(skb)->daddr, 0);
	return udp_v6_check(len, &ipv6_hdr(skb)->saddr,
			    &ipv6_hdr(skb)->daddr, 0);
}

/**
 * rxe_seg_finish() - Have a unit cut, and its checksums computed
 * @head: the unit; its lengths are set
 */
void rxe_seg_finish(struct sk_buff *head)
{
	u32 len = head->len - skb_transport_offset(head);

	skb_shinfo(head)->gso_type = SKB_GSO_UDP_L4;
	udp_hdr(head)->check = ~checksum_of_pseudo_header(head, len);
	head->ip_summed = CHECKSUM_PARTIAL;
	head->csum_start = skb_transport_header(head) - head->head;
	head->csum_offset = offsetof(struct udphdr, check);
}
