// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The packets that one run of a side sends cross the stack as few units.
 *
 * Stage:	tx, between the ICRC and the IP stack
 * In:		ready-made packets of one side of a QP, in order
 * Out:		the same on the wire; one pass through IP, netfilter, qdisc and,
 *		if the device can do that, driver for up to 64 KiB of them
 * Context:	the side's run
 * Locks:	none; only the run has the packets
 * Never:	decides what to send, or changes what the ICRC of a packet covers
 *
 * A unit is what GRO makes of the packets of a flow that it will forward (see
 * "fraglist" in Documentation/networking/segmentation-offloads.rst): a packet
 * with others on its frag_list, each with its own headers. So they may be of
 * any size up to the first one's, by which the stack judges them all, and keep
 * their checksum 0. No byte is copied when the stack takes the unit apart,
 * where the device, or what it leads to, cannot take it whole.
 *
 * For a device that does not know such units, but cuts long packets, a unit of
 * an RC queue pair's long messages has the form that rxe_seg.c gives it. Nothing
 * says that a device counts the ids up, which the ICRC covers: RC gets along
 * without, see vain, the others would lose all but the first packet of a unit.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "rxe.h"
#include "rxe_inflight.h"
#include "rxe_route.h"
#include "rxe_seg.h"
#include "rxe_trace.h"
#include "rxe_tx.h"

/* What IP can say is the length of a unit, less a link-layer header */
#define TX_UNIT_BYTES	(IP_MAX_MTU - MAX_HEADER)

/* In a row; a peer that gets no more than the first packet of each unit, say
 * because somebody on the way gives all the same id, makes each retry such
 */
#define TX_VAIN_RETRIES	3

static unsigned int ip_hdr_len(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? sizeof(struct iphdr) :
						  sizeof(struct ipv6hdr);
}

/* A host between us and the peer may count the ids of a unit itself */
static bool follows4(const struct rxe_tx *tx, const struct sk_buff *skb)
{
	const struct iphdr *head = ip_hdr(tx->head);
	const struct iphdr *ip = ip_hdr(skb);

	return ip->daddr == head->daddr && ip->saddr == head->saddr &&
	       (u16)(ntohs(ip->id) - ntohs(head->id)) == tx->count;
}

static bool follows6(const struct rxe_tx *tx, const struct sk_buff *skb)
{
	const struct ipv6hdr *head = ipv6_hdr(tx->head);
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	return ipv6_addr_equal(&ip->daddr, &head->daddr) &&
	       ipv6_addr_equal(&ip->saddr, &head->saddr);
}

/**
 * rxe_tx_fits() - Can a packet leave with those that are there?
 * @tx: the side's packets, one at least
 * @skb: the packet, from the IP header on
 *
 * The source port is the QP's, and the route follows from the addresses.
 */
bool rxe_tx_fits(const struct rxe_tx *tx, const struct sk_buff *skb)
{
	const struct sk_buff *head = tx->head;

	if (tx->count == RXE_TX_PACKETS || skb->len > tx->most ||
	    tx->bytes + skb->len > TX_UNIT_BYTES)
		return false;

	if (skb->protocol != head->protocol || skb->dev != head->dev)
		return false;

	return skb->protocol == htons(ETH_P_IP) ? follows4(tx, skb) :
						  follows6(tx, skb);
}

/**
 * rxe_tx_begin() - Begin with a packet
 * @tx: the side's packets, none yet
 * @skb: the packet, from the IP header on
 * @most: how long the others may be
 * @cut: is the device to cut the unit?
 */
void rxe_tx_begin(struct rxe_tx *tx, struct sk_buff *skb, unsigned int most,
		  bool cut)
{
	tx->head = skb;
	tx->tail = NULL;
	tx->count = 1;
	tx->bytes = skb->len;
	tx->size = skb->len;
	tx->most = most;
	tx->cut = cut && skb->head_frag && !skb_is_nonlinear(skb);
}

/* As skb_gro_receive_list() does: the length of the first one is that of all */
static void carry(struct rxe_tx *tx, struct sk_buff *skb)
{
	struct sk_buff *head = tx->head;

	/* it takes the way of the first one */
	skb_dst_drop(skb);
	if (tx->tail)
		tx->tail->next = skb;
	else
		skb_shinfo(head)->frag_list = skb;
	tx->tail = skb;
	head->data_len += skb->len;
	head->len += skb->len;
	head->truesize += skb->truesize;
}

/**
 * rxe_tx_join() - Add a packet that fits
 * @tx: the side's packets
 * @skb: the packet, from the IP header on; consumed if it is added
 *
 * Return: false if it cannot be added after all; then it is as it was
 */
bool rxe_tx_join(struct rxe_tx *tx, struct sk_buff *skb)
{
	unsigned int hdrs = ip_hdr_len(skb) + sizeof(struct udphdr);
	unsigned int len = skb->len;

	__skb_pull(skb, hdrs);
	if (!tx->cut) {
		carry(tx, skb);
	} else if (!rxe_seg_join(tx->head, skb)) {
		__skb_push(skb, hdrs);
		return false;
	} else if (len < tx->most) {
		/* it is the last one */
		tx->most = 0;
	}

	tx->count++;
	tx->bytes += len;
	return true;
}

/**
 * rxe_tx_take() - Take all packets
 * @tx: the side's packets, one at least; none afterwards
 *
 * Return: the packet if there is one, or the unit of all of them
 */
struct sk_buff *rxe_tx_take(struct rxe_tx *tx)
{
	struct sk_buff *head = tx->head;
	struct skb_shared_info *shinfo = skb_shinfo(head);

	tx->head = NULL;
	if (tx->count == 1)
		return head;

	shinfo->gso_segs = tx->count;
	shinfo->gso_size = tx->size - ip_hdr_len(head) -
			   sizeof(struct udphdr);
	/* like IP's, as long as it is whole */
	udp_set_len_short(udp_hdr(head), head->len - ip_hdr_len(head));
	if (tx->cut) {
		rxe_seg_finish(head);
		return head;
	}

	/* a tunnel's socket gets no unit that is not of one; there is no inner
	 * packet, and head->encapsulation says so
	 */
	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST |
			   SKB_GSO_UDP_TUNNEL;
	/* there is none to compute */
	head->ip_summed = CHECKSUM_UNNECESSARY;
	return head;
}

/* No unit of what will be encrypted or encapsulated, or is too long anyway */
static unsigned int most_after(const struct rxe_tx *tx,
			       const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (dst_xfrm(dst) || dst->lwtstate || skb->len > dst_mtu(dst) ||
	    tx->vain >= TX_VAIN_RETRIES)
		return 0;
	return skb->len;
}

/**
 * rxe_tx_set_route() - Give a packet its route
 * @tx: the side's packets
 * @qp: the QP
 * @skb: the packet, from the IP header on
 *
 * Before a run sleeps: nothing holds the packet's device then. Without a route
 * the packet will be dropped, unless it is looped back.
 *
 * Context: the side's run.
 */
void rxe_tx_set_route(struct rxe_tx *tx, struct rxe_qp *qp,
		      struct sk_buff *skb)
{
	struct dst_entry *dst;

	if (skb_dst(skb))
		return;

	dst = rxe_route_find(&tx->route, qp, skb);
	if (likely(dst))
		skb_dst_set(skb, dst);
}

static bool join(struct rxe_tx *tx, const struct rxe_pkt_info *pkt,
		 struct sk_buff *skb)
{
	unsigned int before = tx->head->truesize;
	unsigned int truesize = skb->truesize;

	if (unlikely(!rxe_tx_join(tx, skb)))
		return false;

	rxe_inflight_join(pkt, truesize, tx->head->truesize - before);
	return true;
}

/**
 * rxe_tx_add() - Send a packet with the others of the run
 * @tx: the side's packets
 * @pkt: the packet
 * @skb: its skb, from the IP header on; consumed
 *
 * It takes the way of the first one. Without a route it is lost.
 *
 * Context: the side's run.
 */
void rxe_tx_add(struct rxe_tx *tx, const struct rxe_pkt_info *pkt,
		struct sk_buff *skb)
{
	if (tx->head && rxe_tx_fits(tx, skb) && join(tx, pkt, skb))
		return;

	/* it was to join a unit of the same peer, see rxe_prepare() */
	if (tx->head && !skb_dst(skb) && qp_is_connected(pkt->qp))
		skb_dst_set(skb, dst_clone(skb_dst(tx->head)));
	rxe_tx_flush(tx, pkt->qp);
	if (unlikely(!skb_dst(skb))) {
		rxe_counter_inc(pkt->rxe, RXE_CNT_SEND_ERR);
		tx->dropped = true;
		kfree_skb(skb);
		return;
	}
	rxe_inflight_charge(pkt, skb);
	rxe_tx_begin(tx, skb, most_after(tx, skb),
		     qp_type(pkt->qp) == IB_QPT_RC && rxe_seg_is_part(pkt) &&
		     rxe_seg_wanted(skb_dst(skb)->dev));
}

/**
 * rxe_tx_retry() - Note a retry
 * @tx: the side's packets
 * @gained: packets that the peer has got since the last one
 *
 * After several that gained next to nothing each packet leaves by itself, until
 * one gains more.
 *
 * Context: the side's run.
 */
void rxe_tx_retry(struct rxe_tx *tx, u32 gained)
{
	/* the first of a unit, and what was sent by itself after that */
	if (gained > 2)
		tx->vain = 0;
	else if (tx->vain < TX_VAIN_RETRIES)
		tx->vain++;
}

/**
 * rxe_tx_flush() - Hand what a run has sent to the IP stack
 * @tx: the side's packets
 * @qp: the QP
 *
 * What a queueing discipline, a filter or the device drops on this host is lost
 * like any packet dropped further on: RC retransmits it, UC and UD promised
 * nothing. So the verdict is counted (send_err) but is no error of the QP.
 *
 * Context: the side's run, or while it is stopped.
 */
void rxe_tx_flush(struct rxe_tx *tx, struct rxe_qp *qp)
{
	struct rxe_dev *rxe = to_rdev(qp->ibqp.device);
	struct sk_buff *skb;
	struct net *net;
	int err;

	if (!tx->head)
		return;

	skb = rxe_tx_take(tx);
	trace_rxe_unit(qp, tx);
	net = dev_net(skb_dst(skb)->dev);
	if (skb->protocol == htons(ETH_P_IP))
		err = ip_local_out(net, skb->sk, skb);
	else
		err = ip6_local_out(net, skb->sk, skb);

	if (net_xmit_eval(err)) {
		rxe_counter_add(rxe, RXE_CNT_SEND_ERR, tx->count);
		tx->dropped = true;
		return;
	}
	rxe_counter_add(rxe, RXE_CNT_SENT_PKTS, tx->count);
	rxe_counter_add(rxe, RXE_CNT_SENT_BYTES, tx->bytes);
}
