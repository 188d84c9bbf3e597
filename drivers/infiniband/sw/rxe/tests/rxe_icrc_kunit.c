// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC of a RoCEv2 packet against a slow reference written from
 * the book: IBTA volume 1, section 7.8.1 (the polynomial and what is masked)
 * and annex A17, section A17.9 (RoCEv2: IP and UDP headers).
 *
 * Context: pure; packets are built in memory, no device, no network.
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/prandom.h>
#include <linux/udp.h>
#include <linux/unaligned.h>

#include "../rxe.h"
#include "../rxe_crc_copy.h"
#include "../rxe_icrc_row.h"
#include "../rxe_loc.h"

#define CRC32_POLY	0xedb88320u	/* reflected 0x04c11db7 */

struct icrc_case {
	const char *name;
	u8 opcode;
	bool ipv6;
};

static const struct icrc_case icrc_cases[] = {
	{ "IPv4 write only", IB_OPCODE_RC_RDMA_WRITE_ONLY, false },
	{ "IPv4 send middle", IB_OPCODE_RC_SEND_MIDDLE, false },
	{ "IPv4 read response", IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, false },
	{ "IPv4 datagram", IB_OPCODE_UD_SEND_ONLY, false },
	{ "IPv6 write only", IB_OPCODE_RC_RDMA_WRITE_ONLY, true },
	{ "IPv6 send middle", IB_OPCODE_RC_SEND_MIDDLE, true },
	{ "IPv6 datagram", IB_OPCODE_UD_SEND_ONLY, true },
};

KUNIT_ARRAY_PARAM_DESC(icrc, icrc_cases, name);

static const u32 payloads[] = { 0, 1, 2, 3, 4, 5, 63, 64, 255, 1024, 4096 };

/* A packet and the rest of what the driver needs to know of it */
struct packet {
	struct sk_buff *skb;
	struct rxe_pkt_info pkt;
	u32 ip_len;
};

/* One bit at a time, as the book draws it */
static u32 slow_crc32(u32 crc, const u8 *p, u32 len)
{
	while (len--) {
		int bit;

		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? CRC32_POLY : 0);
	}

	return crc;
}

/* Everything that a router may change is taken as all ones */
static void mask_ip(u8 *ip, bool ipv6)
{
	if (ipv6) {
		ip[0] |= 0x0f;		/* traffic class, upper half */
		ip[1] = 0xff;		/* its lower half and flow label */
		ip[2] = 0xff;
		ip[3] = 0xff;
		ip[7] = 0xff;		/* hop limit */
	} else {
		ip[1] = 0xff;		/* type of service */
		ip[8] = 0xff;		/* time to live */
		ip[10] = 0xff;		/* header checksum */
		ip[11] = 0xff;
	}
}

static u32 slow_icrc(struct kunit *test, const struct packet *p)
{
	static const u8 lrh[8] = { 0xff, 0xff, 0xff, 0xff,
				   0xff, 0xff, 0xff, 0xff };
	u32 len = p->ip_len + sizeof(struct udphdr) + p->pkt.paylen -
		  RXE_ICRC_SIZE;
	u8 *copy = kunit_kmalloc(test, len, GFP_KERNEL);
	u8 *udp = copy + p->ip_len;
	u32 crc;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, skb_network_header(p->skb), len);
	mask_ip(copy, p->ip_len == sizeof(struct ipv6hdr));
	udp[6] = 0xff;			/* UDP checksum */
	udp[7] = 0xff;
	udp[8 + 4] = 0xff;		/* BTH: FECN, BECN, reserved */
	crc = slow_crc32(~0u, lrh, sizeof(lrh));
	crc = slow_crc32(crc, copy, len);
	kunit_kfree(test, copy);

	return ~crc;
}

static void free_skb_action(void *skb)
{
	kfree_skb(skb);
}

static void fill_ip(struct sk_buff *skb, bool ipv6)
{
	if (ipv6) {
		ipv6_hdr(skb)->version = 6;
		ipv6_hdr(skb)->nexthdr = IPPROTO_UDP;
		skb->protocol = htons(ETH_P_IPV6);
	} else {
		ip_hdr(skb)->version = 4;
		ip_hdr(skb)->ihl = 5;
		ip_hdr(skb)->protocol = IPPROTO_UDP;
		skb->protocol = htons(ETH_P_IP);
	}
}

/* Random in every field that has no fixed value */
static void build(struct kunit *test, struct packet *p,
		  const struct icrc_case *c, u32 payload, struct rnd_state *rnd)
{
	u32 pad = -payload & 3;
	u32 len;
	u8 *bytes;

	memset(p, 0, sizeof(*p));
	p->ip_len = c->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	p->pkt.opcode = c->opcode;
	p->pkt.mask = rxe_opcode[c->opcode].mask;
	p->pkt.paylen = rxe_opcode[c->opcode].length + payload + pad +
			RXE_ICRC_SIZE;
	len = p->ip_len + sizeof(struct udphdr) + p->pkt.paylen;

	p->skb = alloc_skb(len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->skb);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_skb_action,
						  p->skb));
	bytes = skb_put(p->skb, len);
	prandom_bytes_state(rnd, bytes, len);
	skb_reset_network_header(p->skb);
	skb_set_transport_header(p->skb, p->ip_len);
	fill_ip(p->skb, c->ipv6);

	p->pkt.hdr = bytes + p->ip_len + sizeof(struct udphdr);
	p->pkt.hdr[0] = c->opcode;
	p->pkt.hdr[1] = (p->pkt.hdr[1] & ~BTH_PAD_MASK) | pad << 4;
}

/* Of packets by themselves */
static void generate(struct packet *p)
{
	struct rxe_icrc_row row;

	rxe_icrc_row_begin(&row);
	rxe_icrc_generate(p->skb, &p->pkt, &row);
}

static int check(struct sk_buff *skb, struct rxe_pkt_info *pkt)
{
	struct rxe_icrc_row row;

	rxe_icrc_row_begin(&row);
	return rxe_icrc_check(skb, pkt, &row);
}

static void icrc_agrees_with_the_book(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rnd_state rnd;
	struct packet p;
	int i;

	prandom_seed_state(&rnd, 17);
	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		u8 *icrc;

		build(test, &p, c, payloads[i], &rnd);
		icrc = p.pkt.hdr + p.pkt.paylen - RXE_ICRC_SIZE;
		generate(&p);
		KUNIT_EXPECT_EQ_MSG(test, get_unaligned_le32(icrc),
				    slow_icrc(test, &p), "payload %u",
				    payloads[i]);
		KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
	}
}

/* Any single flipped bit of what the ICRC covers is found */
static void icrc_finds_a_flipped_bit(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rnd_state rnd;
	struct packet p;
	int bit;

	prandom_seed_state(&rnd, 18);
	build(test, &p, c, 64, &rnd);
	generate(&p);

	/* from behind the BTH's flags and pad count, which say where it ends */
	for (bit = 5 * 8; bit < p.pkt.paylen * 8; bit++) {
		p.pkt.hdr[bit / 8] ^= BIT(bit % 8);
		KUNIT_EXPECT_NE_MSG(test, check(p.skb, &p.pkt), 0,
				    "bit %d", bit);
		p.pkt.hdr[bit / 8] ^= BIT(bit % 8);
	}
	KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
}

/* What routers and checksum offload change leaves the ICRC alone */
static void icrc_ignores_what_may_change(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rnd_state rnd;
	struct packet p;

	prandom_seed_state(&rnd, 19);
	build(test, &p, c, 64, &rnd);
	generate(&p);

	if (c->ipv6) {
		ipv6_hdr(p.skb)->hop_limit ^= 0xff;
		ipv6_hdr(p.skb)->priority ^= 0xf;
		memset(ipv6_hdr(p.skb)->flow_lbl, 0x5a, 3);
	} else {
		ip_hdr(p.skb)->ttl ^= 0xff;
		ip_hdr(p.skb)->tos ^= 0xff;
		ip_hdr(p.skb)->check ^= (__force __sum16)0xffff;
	}
	udp_hdr(p.skb)->check ^= (__force __sum16)0xffff;
	p.pkt.hdr[4] ^= 0xff;
	KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
}

/* Headers are masked where they are, unless others may look at them */
static void icrc_is_the_same_for_a_clone(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct sk_buff *clone;
	struct rnd_state rnd;
	struct packet p;

	prandom_seed_state(&rnd, 20);
	build(test, &p, c, 1024, &rnd);
	generate(&p);
	clone = skb_clone(p.skb, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
	kfree_skb(clone);
	KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
}

static void icrc_changes_nothing_else(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rnd_state rnd;
	struct packet p;
	u32 len;
	u8 *was;

	prandom_seed_state(&rnd, 21);
	build(test, &p, c, 100, &rnd);
	generate(&p);

	len = p.skb->len;
	was = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, was);
	memcpy(was, p.skb->data, len);
	KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
	generate(&p);
	KUNIT_EXPECT_MEMEQ(test, p.skb->data, was, len);
}

/* The same packet with all behind @linear bytes in two pages */
static struct sk_buff *in_pieces(struct kunit *test, const struct packet *p,
				 u32 linear, u32 first)
{
	const u8 *bytes = p->skb->data;
	u32 rest = p->skb->len - linear;
	struct sk_buff *skb = alloc_skb(linear, GFP_KERNEL);
	u32 sizes[] = { min(first, rest), rest - min(first, rest) };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, bytes, linear);
	bytes += linear;
	skb->protocol = p->skb->protocol;
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, p->ip_len);
	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i]; i++) {
		struct page *page = alloc_pages(GFP_KERNEL, 1);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page) + i, bytes, sizes[i]);
		skb_add_rx_frag(skb, i, page, i, sizes[i], 2 * PAGE_SIZE);
		bytes += sizes[i];
	}
	return skb;
}

static void icrc_is_the_same_in_pieces(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rnd_state rnd;
	struct packet p;
	int i;

	prandom_seed_state(&rnd, 22);
	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct rxe_pkt_info pkt;
		struct sk_buff *skb;
		u32 headers, rest;

		build(test, &p, c, payloads[i], &rnd);
		generate(&p);
		headers = p.ip_len + sizeof(struct udphdr) +
			  rxe_opcode[c->opcode].length;
		rest = p.skb->len - headers;
		/* in all places: payload, pad and the ICRC itself */
		skb = in_pieces(test, &p, headers,
				1 + prandom_u32_state(&rnd) % rest);
		pkt = p.pkt;
		pkt.hdr = skb->data + p.ip_len + sizeof(struct udphdr);
		KUNIT_EXPECT_TRUE(test, skb_is_nonlinear(skb));
		KUNIT_EXPECT_EQ_MSG(test, check(skb, &pkt), 0,
				    "payload %u", payloads[i]);
		pkt.hdr[7] ^= 1;
		KUNIT_EXPECT_NE(test, check(skb, &pkt), 0);
		kfree_skb(skb);
	}
}

/* What the next packet has that the last one had not: one byte, or some */
static void change(struct packet *p, struct rnd_state *rnd, int i)
{
	u8 *ip = skb_network_header(p->skb);
	u32 len = p->ip_len + sizeof(struct udphdr) + RXE_BTH_BYTES;
	u32 psn = bth_psn(&p->pkt) + 1;

	if (p->ip_len == sizeof(struct iphdr))
		be16_add_cpu(&ip_hdr(p->skb)->id, 1);
	bth_set_psn(&p->pkt, psn);
	if (i % 7 == 0)
		p->pkt.hdr[8] ^= BIT(7);	/* AckReq */
	if (i % 5 == 0)
		p->pkt.hdr[0] ^= IB_OPCODE_SEND_MIDDLE ^ IB_OPCODE_SEND_LAST;
	/* anywhere behind what says how it is to be masked */
	if (i % 3 == 0)
		ip[1 + prandom_u32_state(rnd) % (len - 1)] ^=
			1 + prandom_u32_state(rnd) % 255;
	p->pkt.hdr[1] &= ~BTH_PAD_MASK;
}

/* The row knows other headers, and never takes one for another */
static void icrc_is_the_same_in_a_row(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	struct rxe_icrc_row row;
	struct rnd_state rnd;
	struct packet p;
	int i;

	prandom_seed_state(&rnd, 23);
	rxe_icrc_row_begin(&row);
	build(test, &p, c, 64, &rnd);
	for (i = 0; i < 1000; i++) {
		u32 headers = p.ip_len + sizeof(struct udphdr) + RXE_BTH_BYTES;
		struct rxe_pkt_info pkt;
		struct sk_buff *skb;

		change(&p, &rnd, i);
		generate(&p);
		skb = in_pieces(test, &p, headers, 30);
		pkt = p.pkt;
		pkt.hdr = skb->data + headers - RXE_BTH_BYTES;
		KUNIT_ASSERT_EQ_MSG(test, rxe_icrc_check(skb, &pkt, &row), 0,
				    "packet %d", i);
		skb->data[headers - 1 - i % RXE_BTH_BYTES] ^= 0x55;
		if (i % RXE_BTH_BYTES != 7)	/* what is masked */
			KUNIT_ASSERT_NE_MSG(test,
					    rxe_icrc_check(skb, &pkt, &row),
					    0, "packet %d", i);
		kfree_skb(skb);
	}
}

/* Headers, payload while it is copied, pad: of packets in a row */
static void icrc_is_the_same_in_steps(struct kunit *test)
{
	const struct icrc_case *c = test->param_value;
	u8 *payload = kunit_kmalloc(test, 4096, GFP_KERNEL);
	struct rxe_icrc_row row;
	struct rnd_state rnd;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, payload);
	prandom_seed_state(&rnd, 24);
	prandom_bytes_state(&rnd, payload, 4096);
	rxe_icrc_row_begin(&row);
	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct packet p;
		u32 crc;
		u8 *icrc;

		build(test, &p, c, payloads[i], &rnd);
		icrc = p.pkt.hdr + p.pkt.paylen - RXE_ICRC_SIZE;
		crc = rxe_icrc_begin(p.skb, &p.pkt, &row);
		crc = rxe_crc_copy(crc, payload_addr(&p.pkt), payload,
				   payloads[i]);
		rxe_icrc_end(&p.pkt, crc);
		KUNIT_EXPECT_EQ_MSG(test, get_unaligned_le32(icrc),
				    slow_icrc(test, &p), "payload %u",
				    payloads[i]);
		KUNIT_EXPECT_TRUE(test, p.pkt.mask & RXE_ICRC_MASK);
		KUNIT_EXPECT_EQ(test, check(p.skb, &p.pkt), 0);
	}
}

static struct kunit_case rxe_icrc_cases[] = {
	KUNIT_CASE_PARAM(icrc_agrees_with_the_book, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_finds_a_flipped_bit, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_ignores_what_may_change, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_is_the_same_for_a_clone, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_changes_nothing_else, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_is_the_same_in_pieces, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_is_the_same_in_a_row, icrc_gen_params),
	KUNIT_CASE_PARAM(icrc_is_the_same_in_steps, icrc_gen_params),
	{}
};

static struct kunit_suite rxe_icrc_suite = {
	.name = "rxe_icrc",
	.test_cases = rxe_icrc_cases,
};

kunit_test_suite(rxe_icrc_suite);
