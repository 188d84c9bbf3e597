// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Units of packets: what may be in one, and that whoever takes it apart, the
 * stack on its way or the receiver, gets each packet as it was.
 *
 * Context: pure; packets are built in memory, no device, no network.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/prandom.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/ip6_checksum.h>
#include <net/udp.h>

#include "../rxe.h"
#include "../rxe_rx.h"
#include "../rxe_seg.h"
#include "../rxe_tx.h"

#define MOST		4200
#define FIRST_ID	0xfffe		/* wraps */
#define MAX_PACKETS	128

struct unit_case {
	const char *name;
	bool ipv6;
	u32 len;			/* of the first packet's payload */
	u32 count;
	bool cut;			/* by the device */
};

static const struct unit_case unit_cases[] = {
	{ "IPv4 of two", false, 64, 2 },
	{ "IPv4 of many short ones", false, 80, 128 },
	{ "IPv4 of long ones", false, 4128, 15 },
	{ "IPv6 of two", true, 64, 2 },
	{ "IPv6 of many short ones", true, 80, 128 },
	{ "IPv6 of long ones", true, 4128, 15 },
	{ "IPv4 of two, to cut", false, 2048, 2, true },
	{ "IPv4 of long ones, to cut", false, 4128, 15, true },
	{ "IPv6 of two, to cut", true, 2048, 2, true },
	{ "IPv6 of long ones, to cut", true, 4128, 15, true },
};

KUNIT_ARRAY_PARAM_DESC(unit, unit_cases, name);

/* Packets as they were before they became a unit, from the IP header on */
struct before {
	u8 *bytes[MAX_PACKETS];
	u32 len[MAX_PACKETS];
};

static u32 ip_len(bool ipv6)
{
	return ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

static void fill_headers(struct sk_buff *skb, bool ipv6, u16 id)
{
	struct iphdr *ip = ip_hdr(skb);
	struct ipv6hdr *ip6 = ipv6_hdr(skb);
	struct udphdr *udp = udp_hdr(skb);

	if (ipv6) {
		skb->protocol = htons(ETH_P_IPV6);
		memset(ip6, 0, sizeof(*ip6));
		ip6->version = 6;
		ip6->nexthdr = IPPROTO_UDP;
		ip6->hop_limit = 64;
		ip6->payload_len = htons(skb->len - sizeof(*ip6));
		ip6->daddr.s6_addr[15] = 2;
	} else {
		skb->protocol = htons(ETH_P_IP);
		memset(ip, 0, sizeof(*ip));
		ip->version = 4;
		ip->ihl = 5;
		ip->ttl = 64;
		ip->protocol = IPPROTO_UDP;
		ip->id = htons(id);
		ip->tot_len = htons(skb->len);
		ip->daddr = htonl(0x0a000002);
		ip_send_check(ip);
	}
	udp->source = htons(50000);
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	udp->check = 0;
	udp_set_len_short(udp, skb->len - ip_len(ipv6));
}

/* With room for a MAC header, all else random */
static struct sk_buff *packet(struct kunit *test, bool ipv6, u32 payload,
			      u16 id, struct rnd_state *rnd)
{
	u32 len = ip_len(ipv6) + sizeof(struct udphdr) + payload;
	struct sk_buff *skb = payload >= RXE_SEG_BYTES ?
			      rxe_seg_alloc(ETH_HLEN + len) :
			      alloc_skb(ETH_HLEN + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, ETH_HLEN);
	prandom_bytes_state(rnd, skb_put(skb, len), len);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_len(ipv6));
	fill_headers(skb, ipv6, id);
	return skb;
}

static void keep(struct kunit *test, struct before *before, u32 i,
		 const struct sk_buff *skb)
{
	before->len[i] = skb->len;
	before->bytes[i] = kunit_kmalloc(test, skb->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before->bytes[i]);
	memcpy(before->bytes[i], skb->data, skb->len);
}

/* Up to the first one's; who cuts the unit wants all but the last to have that */
static u32 next_len(const struct unit_case *c, u32 i, struct rnd_state *rnd)
{
	u32 least = c->cut ? RXE_SEG_BYTES : 16;

	if (c->cut && i + 1 < c->count)
		return c->len;
	return least + prandom_u32_state(rnd) % (c->len + 1 - least);
}

static struct sk_buff *make(struct kunit *test, struct before *before)
{
	const struct unit_case *c = test->param_value;
	struct rnd_state rnd;
	struct rxe_tx tx;
	struct sk_buff *skb;
	u32 i;

	prandom_seed_state(&rnd, c->len + c->count);
	skb = packet(test, c->ipv6, c->len, FIRST_ID, &rnd);
	keep(test, before, 0, skb);
	rxe_tx_begin(&tx, skb, skb->len, c->cut);
	for (i = 1; i < c->count; i++) {
		skb = packet(test, c->ipv6, next_len(c, i, &rnd),
			     FIRST_ID + i, &rnd);
		keep(test, before, i, skb);
		KUNIT_ASSERT_TRUE(test, rxe_tx_fits(&tx, skb));
		KUNIT_ASSERT_TRUE(test, rxe_tx_join(&tx, skb));
	}
	KUNIT_EXPECT_EQ(test, tx.count, c->count);
	return rxe_tx_take(&tx);
}

/* As ip_local_out() and a device without features do; gives it a MAC header */
static void send(struct kunit *test, struct sk_buff *skb)
{
	const struct unit_case *c = test->param_value;

	if (c->ipv6) {
		ipv6_hdr(skb)->payload_len = htons(skb->len -
						   sizeof(struct ipv6hdr));
	} else {
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	}
	skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_proto = skb->protocol;
}

/* A unit on its way, and what its packets were */
static struct sk_buff *sent(struct kunit *test, struct before **before)
{
	struct sk_buff *unit;

	*before = kunit_kzalloc(test, sizeof(**before), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *before);
	unit = make(test, *before);
	send(test, unit);
	return unit;
}

/* What the ICRC covers is as it was, but UDP's checksum may be there */
static void drop_checksum(struct kunit *test, struct sk_buff *skb)
{
	const struct unit_case *c = test->param_value;
	struct udphdr *udp;

	udp = (struct udphdr *)(skb_network_header(skb) + ip_len(c->ipv6));
	KUNIT_EXPECT_EQ(test, !!udp->check, c->cut);
	udp->check = 0;
}

/* Each as it was, with its header's checksum */
static void expect_packets(struct kunit *test, struct sk_buff *list,
			   const struct before *before)
{
	const struct unit_case *c = test->param_value;
	struct sk_buff *skb, *next;
	u32 i = 0;

	skb_list_walk_safe(list, skb, next) {
		u8 *ip = skb_network_header(skb);

		KUNIT_ASSERT_LT(test, i, c->count);
		KUNIT_EXPECT_EQ(test, skb->len + (skb->data - ip),
				before->len[i]);
		KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
		KUNIT_EXPECT_EQ(test, skb_linearize(skb), 0);
		ip = skb_network_header(skb);
		if (!c->ipv6)
			ip_send_check((struct iphdr *)ip);
		drop_checksum(test, skb);
		KUNIT_EXPECT_MEMEQ(test, ip, before->bytes[i], before->len[i]);
		i++;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, i, c->count);
}

/* A checksum that somebody has computed is that of the whole datagram */
static void expect_checksums(struct kunit *test, struct sk_buff *list)
{
	const struct unit_case *c = test->param_value;
	struct sk_buff *skb;

	for (skb = list; skb && c->cut; skb = skb->next) {
		u32 at = skb_network_offset(skb) + ip_len(c->ipv6);
		u32 len = skb->len - at;
		__wsum sum = skb_checksum(skb, at, len, 0);
		__sum16 rest;

		if (c->ipv6)
			rest = udp_v6_check(len, &ipv6_hdr(skb)->saddr,
					    &ipv6_hdr(skb)->daddr, sum);
		else
			rest = udp_v4_check(len, ip_hdr(skb)->saddr,
					    ip_hdr(skb)->daddr, sum);
		KUNIT_EXPECT_EQ(test, rest, 0);
	}
}

static void unit_is_taken_apart_by_the_stack(struct kunit *test)
{
	struct before *before;
	struct sk_buff *unit = sent(test, &before);
	struct sk_buff *list;

	rcu_read_lock();
	list = __skb_gso_segment(unit, 0, true);
	rcu_read_unlock();
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(list));
	consume_skb(unit);
	expect_checksums(test, list);
	expect_packets(test, list, before);
}

/* As it leaves the device and comes to UDP */
static void deliver(struct sk_buff *skb, bool ipv6)
{
	skb_pull(skb, ETH_HLEN + ip_len(ipv6));
}

static void unit_is_taken_apart_by_the_receiver(struct kunit *test)
{
	const struct unit_case *c = test->param_value;
	struct before *before;
	struct sk_buff *unit = sent(test, &before);

	deliver(unit, c->ipv6);
	rcu_read_lock();
	expect_packets(test, rxe_rx_packets(unit), before);
	rcu_read_unlock();
}

/* A packet socket, say, has seen the unit and still has it */
static void unit_of_others_is_taken_apart(struct kunit *test)
{
	const struct unit_case *c = test->param_value;
	struct before *before;
	struct sk_buff *unit = sent(test, &before);
	struct sk_buff *clone = skb_clone(unit, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, clone);
	deliver(unit, c->ipv6);
	rcu_read_lock();
	expect_packets(test, rxe_rx_packets(unit), before);
	rcu_read_unlock();

	deliver(clone, c->ipv6);
	rcu_read_lock();
	expect_packets(test, rxe_rx_packets(clone), before);
	rcu_read_unlock();
}

/* A unit has one destination, one row of ids, and no packet above its first */
static void unit_has_its_limits(struct kunit *test)
{
	struct rnd_state rnd;
	struct rxe_tx tx;
	struct sk_buff *skb;

	prandom_seed_state(&rnd, 4);
	skb = packet(test, false, 64, 7, &rnd);
	rxe_tx_begin(&tx, skb, skb->len, false);

	skb = packet(test, false, 64, 8, &rnd);
	KUNIT_EXPECT_TRUE(test, rxe_tx_fits(&tx, skb));
	ip_hdr(skb)->daddr ^= htonl(1);
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	ip_hdr(skb)->daddr ^= htonl(1);
	ip_hdr(skb)->id = htons(9);
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	ip_hdr(skb)->id = htons(8);
	tx.most = 0;
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	kfree_skb(skb);
	tx.most = tx.bytes;

	skb = packet(test, false, 68, 8, &rnd);
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	kfree_skb(skb);
	skb = packet(test, true, 16, 8, &rnd);
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	kfree_skb(skb);

	kfree_skb(rxe_tx_take(&tx));
	KUNIT_EXPECT_NULL(test, tx.head);
}

/* What is to be cut has one length, and ends with what is shorter */
static void unit_to_cut_ends_with_a_shorter_one(struct kunit *test)
{
	struct rnd_state rnd;
	struct rxe_tx tx;
	struct sk_buff *skb;

	prandom_seed_state(&rnd, 6);
	skb = packet(test, false, 2048, 1, &rnd);
	rxe_tx_begin(&tx, skb, skb->len, true);
	skb = packet(test, false, 2048, 2, &rnd);
	KUNIT_EXPECT_TRUE(test, rxe_tx_fits(&tx, skb));
	KUNIT_EXPECT_TRUE(test, rxe_tx_join(&tx, skb));
	skb = packet(test, false, 1024, 3, &rnd);
	KUNIT_EXPECT_TRUE(test, rxe_tx_fits(&tx, skb));
	KUNIT_EXPECT_TRUE(test, rxe_tx_join(&tx, skb));

	skb = packet(test, false, 1024, 4, &rnd);
	KUNIT_EXPECT_FALSE(test, rxe_tx_fits(&tx, skb));
	kfree_skb(skb);
	skb = rxe_tx_take(&tx);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, 3);
	kfree_skb(skb);
}

/* One that cannot be stolen, for its memory is not a page's */
static void unit_to_cut_refuses_what_it_cannot_have(struct kunit *test)
{
	struct rnd_state rnd;
	struct rxe_tx tx;
	struct sk_buff *skb, *copy;

	prandom_seed_state(&rnd, 7);
	skb = packet(test, false, MOST, 1, &rnd);
	rxe_tx_begin(&tx, skb, skb->len, true);
	skb = packet(test, false, MOST, 2, &rnd);
	copy = skb_copy(skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_TRUE(test, rxe_tx_fits(&tx, copy));
	KUNIT_EXPECT_FALSE(test, rxe_tx_join(&tx, copy));
	KUNIT_EXPECT_MEMEQ(test, copy->data, skb->data, skb->len);
	KUNIT_EXPECT_EQ(test, tx.count, 1);
	kfree_skb(copy);
	kfree_skb(skb);
	kfree_skb(rxe_tx_take(&tx));
}

/* IP has 16 bits for the length of a unit */
static void unit_is_not_longer_than_ip_allows(struct kunit *test)
{
	struct rnd_state rnd;
	struct rxe_tx tx;
	struct sk_buff *skb;
	u32 id = 0;

	prandom_seed_state(&rnd, 5);
	skb = packet(test, false, MOST, id++, &rnd);
	rxe_tx_begin(&tx, skb, skb->len, false);
	for (;;) {
		skb = packet(test, false, MOST, id++, &rnd);
		if (!rxe_tx_fits(&tx, skb))
			break;
		rxe_tx_join(&tx, skb);
	}
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, tx.count, 15);
	skb = rxe_tx_take(&tx);
	KUNIT_EXPECT_LT(test, skb->len + ETH_HLEN, GSO_LEGACY_MAX_SIZE);
	kfree_skb(skb);
}

static struct kunit_case rxe_unit_cases[] = {
	KUNIT_CASE_PARAM(unit_is_taken_apart_by_the_stack, unit_gen_params),
	KUNIT_CASE_PARAM(unit_is_taken_apart_by_the_receiver, unit_gen_params),
	KUNIT_CASE_PARAM(unit_of_others_is_taken_apart, unit_gen_params),
	KUNIT_CASE(unit_has_its_limits),
	KUNIT_CASE(unit_to_cut_ends_with_a_shorter_one),
	KUNIT_CASE(unit_to_cut_refuses_what_it_cannot_have),
	KUNIT_CASE(unit_is_not_longer_than_ip_allows),
	{}
};

static struct kunit_suite rxe_unit_suite = {
	.name = "rxe_unit",
	.test_cases = rxe_unit_cases,
};

kunit_test_suite(rxe_unit_suite);
