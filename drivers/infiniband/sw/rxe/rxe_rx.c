// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What UDP delivers to the port of RoCE: single packets, and units of a flow's
 * packets as rxe_tx.c or GRO have made them.
 *
 * Stage:	rx, between UDP and the check of a packet
 * In:		packets and units from the network
 * Out:		packets, in order, of which UDP's header and the BTH are in one
 *		piece
 * Context:	softirq, RCU reader
 * Locks:	none
 * Never:	trusts what a unit says about itself
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/udp.h>

#include "rxe.h"
#include "rxe_find.h"
#include "rxe_loc.h"
#include "rxe_net.h"
#include "rxe_recv.h"
#include "rxe_run.h"
#include "rxe_rx.h"

/* Consumes @skb, whose data begin at the UDP header */
static void receive(struct rxe_arrivals *arrivals, struct rxe_dev *rxe,
		    struct sk_buff *skb)
{
	struct rxe_pkt_info *pkt = SKB_TO_PKT(skb);
	struct udphdr *udp;
	unsigned int len;

	if (unlikely(!pskb_may_pull(skb, sizeof(*udp) + RXE_BTH_BYTES)))
		goto drop;

	/* UDP has seen the first packet of a unit only */
	udp = udp_hdr(skb);
	len = udp_get_len_short(udp);
	if (unlikely(len < sizeof(*udp) || len > skb->len))
		goto drop;

	pkt->rxe = rxe;
	pkt->port_num = 1;
	pkt->hdr = (u8 *)(udp + 1);
	pkt->mask = RXE_GRH_MASK;
	pkt->paylen = len - sizeof(*udp);
	__skb_pull(skb, sizeof(*udp));
	rxe_rcv(arrivals, skb);
	return;

drop:
	kfree_skb(skb);
}

/*
 * Has the unit the form that skb_gro_receive_list() gives it, and does nobody
 * else have a part of it, say a packet socket?
 */
static bool is_mine(struct sk_buff *head)
{
	const struct skb_shared_info *shinfo = skb_shinfo(head);
	int ip = skb_network_offset(head) - sizeof(struct udphdr);
	struct sk_buff *skb;

	if (!(shinfo->gso_type & SKB_GSO_FRAGLIST) ||
	    shinfo->gso_type & SKB_GSO_DODGY || skb_cloned(head) ||
	    skb_pagelen(head) != sizeof(struct udphdr) + shinfo->gso_size)
		return false;

	skb_walk_frags(head, skb) {
		if (skb_shared(skb) || skb->protocol != head->protocol ||
		    skb_network_offset(skb) != ip)
			return false;
	}
	return true;
}

/* In the headers it is as long as the unit */
static void shorten(struct sk_buff *head)
{
	if (head->protocol == htons(ETH_P_IP))
		ip_hdr(head)->tot_len = htons(head->len +
					      skb_network_header_len(head));
	else
		ipv6_hdr(head)->payload_len = htons(head->len);
	udp_set_len_short(udp_hdr(head), head->len);
}

/* The packets of @head begin at their payload, it itself at its UDP header */
static struct sk_buff *take_apart(struct sk_buff *head)
{
	struct sk_buff *list = skb_shinfo(head)->frag_list;
	struct sk_buff *skb;

	skb_shinfo(head)->frag_list = NULL;
	skb_gso_reset(head);
	head->next = list;
	for (skb = list; skb; skb = skb->next) {
		head->len -= skb->len;
		head->data_len -= skb->len;
		head->truesize -= skb->truesize;
		skb->dev = head->dev;
		__skb_push(skb, sizeof(struct udphdr));
		skb_reset_transport_header(skb);
	}
	shorten(head);
	return head;
}

/* As UDP does for a socket that wants no units */
static struct sk_buff *have_segmented(struct sk_buff *head)
{
	struct sk_buff *list, *skb;

	__skb_push(head, -skb_mac_offset(head));
	list = __skb_gso_segment(head, NETIF_F_SG | NETIF_F_CSUM_MASK, false);
	if (IS_ERR_OR_NULL(list)) {
		kfree_skb(head);
		return NULL;
	}

	consume_skb(head);
	for (skb = list; skb; skb = skb->next)
		__skb_pull(skb, skb_transport_offset(skb));
	return list;
}

/**
 * rxe_rx_packets() - Take a unit apart
 * @skb: the unit, from the UDP header on; consumed
 *
 * Context: softirq, RCU reader.
 * Return: a list of its packets, each from the UDP header on, or NULL
 */
struct sk_buff *rxe_rx_packets(struct sk_buff *skb)
{
	return is_mine(skb) ? take_apart(skb) : have_segmented(skb);
}

/*
 * In a VRF a packet says that it came from the VRF's own device. The GID is
 * mostly that of the device below, see l3mdev_l3_rcv(); then the packet is made
 * one of that.
 */
static noinline struct rxe_dev *find_below(struct sk_buff *skb)
{
	int below = skb->protocol == htons(ETH_P_IP) ? inet_sdif(skb) :
						       inet6_sdif(skb);
	struct net_device *ndev = dev_get_by_index_rcu(dev_net(skb->dev),
						       below);
	struct rxe_dev *rxe = ndev ? rxe_find_dev(ndev) : NULL;

	if (!rxe)
		return rxe_find_dev(skb->dev);
	skb->dev = ndev;
	return rxe;
}

static struct rxe_dev *find_dev(struct sk_buff *skb)
{
	return unlikely(netif_is_l3_master(skb->dev)) ? find_below(skb) :
							rxe_find_dev(skb->dev);
}

/**
 * rxe_rx() - Take what UDP delivers
 * @sk: the socket of the port
 * @skb: a packet or a unit, from the UDP header on; consumed
 *
 * Context: softirq, RCU reader.
 * Return: 0, for UDP has nothing left to do
 */
int rxe_rx(struct sock *sk, struct sk_buff *skb)
{
	struct rxe_dev *rxe = find_dev(skb);
	struct rxe_arrivals arrivals;
	struct sk_buff *next;

	if (unlikely(!rxe)) {
		kfree_skb(skb);
		return 0;
	}

	/* UDP may have taken a unit apart, and does not unlink what it delivers */
	skb_mark_not_on_list(skb);
	if (skb_is_gso(skb))
		skb = rxe_rx_packets(skb);

	rxe_arrivals_init(&arrivals, RXE_KICK_RX);
	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		receive(&arrivals, rxe, skb);
	}
	rxe_arrivals_deliver(&arrivals);
	return 0;
}

/**
 * rxe_rx_setup() - Have units delivered whole
 * @sk: the socket of the port
 *
 * Context: process.
 */
void rxe_rx_setup(struct sock *sk)
{
	udp_allow_gso(sk);
	/* UDP need not fill in a checksum where it takes a unit apart */
	inet_dec_convert_csum(sk);
}
