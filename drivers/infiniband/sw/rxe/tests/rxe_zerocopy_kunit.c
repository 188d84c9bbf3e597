// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A packet that refers to its payload is the same on the wire as one with a copy,
 * and keeps the pages as long as it is there.
 *
 * Context: pure; packets are built in memory, no device, no network.
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/prandom.h>
#include <linux/udp.h>

#include "../rxe.h"
#include "../rxe_icrc_row.h"
#include "../rxe_loc.h"
#include "../rxe_zerocopy.h"

#define NET_HDR_BYTES	(sizeof(struct iphdr) + sizeof(struct udphdr))

/* A packet from its IP header on, and its payload in two pages */
struct sender {
	struct rxe_send_wqe *wqe;
	struct rxe_pkt_info pkt;
	struct rxe_zerocopy zc;
	struct page *pages[RXE_ZEROCOPY_PAGES];
	struct rnd_state rnd;
	u32 payload;
};

static void put_page_action(void *page)
{
	put_page(page);
}

static struct page *new_page(struct kunit *test, struct rnd_state *rnd)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test,
							   put_page_action,
							   page));
	prandom_bytes_state(rnd, page_address(page), PAGE_SIZE);
	return page;
}

/* @offset: of the payload in the first page */
static void set_up(struct kunit *test, struct sender *s, u32 offset, u32 payload)
{
	u32 first = min_t(u32, payload, PAGE_SIZE - offset);
	int i;

	prandom_seed_state(&s->rnd, payload);
	for (i = 0; i < RXE_ZEROCOPY_PAGES; i++)
		s->pages[i] = new_page(test, &s->rnd);
	s->wqe = kunit_kzalloc(test, sizeof(*s->wqe) + sizeof(struct rxe_sge),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s->wqe);
	s->wqe->dma.resid = payload;

	s->payload = payload;
	s->zc = (struct rxe_zerocopy) {
		.pages[0] = { s->pages[0], first, offset },
		.pages[1] = { s->pages[1], payload - first, 0 },
		.count = payload > first ? 2 : 1,
	};
	s->pkt = (struct rxe_pkt_info) {
		.wqe = s->wqe,
		.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		.mask = rxe_opcode[IB_OPCODE_RC_RDMA_WRITE_ONLY].mask,
		.paylen = rxe_opcode[IB_OPCODE_RC_RDMA_WRITE_ONLY].length +
			  ALIGN(payload, 4) + RXE_ICRC_SIZE,
	};
}

/* Headers of which only the pad count matters, and room for IP's */
static struct sk_buff *new_packet(struct kunit *test, struct sender *s, u32 len)
{
	struct sk_buff *skb = alloc_skb(NET_HDR_BYTES + len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, NET_HDR_BYTES);
	s->pkt.hdr = skb_put(skb, len);
	memset(s->pkt.hdr, 0x5a, rxe_opcode[s->pkt.opcode].length);
	s->pkt.hdr[1] = (-s->payload & 3) << 4;
	return skb;
}

static void finish(struct sender *s, struct sk_buff *skb)
{
	struct rxe_icrc_row row;

	rxe_icrc_row_begin(&row);
	memset(skb_push(skb, NET_HDR_BYTES), 0x45, NET_HDR_BYTES);
	skb->protocol = htons(ETH_P_IP);
	skb_reset_network_header(skb);
	rxe_icrc_generate(skb, &s->pkt, &row);
}

static int check(struct sender *s, struct sk_buff *skb)
{
	struct rxe_icrc_row row;

	rxe_icrc_row_begin(&row);
	return rxe_icrc_check(skb, &s->pkt, &row);
}

static struct sk_buff *with_references(struct kunit *test, struct sender *s)
{
	struct sk_buff *skb = new_packet(test, s,
					 rxe_opcode[s->pkt.opcode].length);

	s->zc.trailer = netdev_alloc_frag(8);
	KUNIT_ASSERT_NOT_NULL(test, s->zc.trailer);
	memset(s->zc.trailer, 0xee, 8);
	rxe_zerocopy_attach(&s->zc, &s->pkt, skb);
	finish(s, skb);
	return skb;
}

static struct sk_buff *with_a_copy(struct kunit *test, struct sender *s)
{
	struct sk_buff *skb = new_packet(test, s, s->pkt.paylen);
	u8 *to = s->pkt.hdr + rxe_opcode[s->pkt.opcode].length;
	unsigned int i;

	for (i = 0; i < s->zc.count; i++) {
		const struct bio_vec *part = &s->zc.pages[i];

		memcpy(to, page_address(part->bv_page) + part->bv_offset,
		       part->bv_len);
		to += part->bv_len;
	}
	memset(to, 0, -s->payload & 3);
	finish(s, skb);
	return skb;
}

static void compare(struct kunit *test, u32 offset, u32 payload)
{
	struct sk_buff *skb, *copy;
	struct sender s;

	set_up(test, &s, offset, payload);
	skb = with_references(test, &s);
	KUNIT_EXPECT_EQ(test, s.wqe->dma.resid, 0);
	KUNIT_EXPECT_EQ(test, s.wqe->dma.sge_offset, payload);
	KUNIT_EXPECT_TRUE(test, skb_is_nonlinear(skb));
	KUNIT_EXPECT_EQ(test, check(&s, skb), 0);

	copy = with_a_copy(test, &s);
	KUNIT_ASSERT_EQ(test, skb->len, copy->len);
	KUNIT_ASSERT_EQ(test, skb_linearize(skb), 0);
	KUNIT_EXPECT_MEMEQ_MSG(test, skb->data, copy->data, copy->len,
			       "offset %u, payload %u", offset, payload);
	kfree_skb(copy);
	kfree_skb(skb);
}

static void zerocopy_is_the_same_as_a_copy(struct kunit *test)
{
	static const u32 payloads[] = { 2048, 2049, 2050, 2051, 4095, 4096 };
	static const u32 offsets[] = { 0, 1, 1024, 2048, 4095 };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(payloads); i++)
		for (j = 0; j < ARRAY_SIZE(offsets); j++)
			compare(test, offsets[j], payloads[i]);
}

static void zerocopy_keeps_the_pages(struct kunit *test)
{
	struct sk_buff *skb;
	struct sender s;

	set_up(test, &s, 100, 4096);
	skb = with_references(test, &s);
	KUNIT_EXPECT_EQ(test, page_count(s.pages[0]), 2);
	KUNIT_EXPECT_EQ(test, page_count(s.pages[1]), 2);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, page_count(s.pages[0]), 1);
	KUNIT_EXPECT_EQ(test, page_count(s.pages[1]), 1);
}

/* What the peer makes of it: the packet is dropped and sent again, as a copy */
static void zerocopy_shows_a_rewritten_buffer(struct kunit *test)
{
	struct sk_buff *skb;
	struct sender s;

	set_up(test, &s, 0, 4096);
	skb = with_references(test, &s);
	((u8 *)page_address(s.pages[0]))[2000] ^= 1;
	KUNIT_EXPECT_NE(test, check(&s, skb), 0);
	kfree_skb(skb);
}

static struct kunit_case rxe_zerocopy_cases[] = {
	KUNIT_CASE(zerocopy_is_the_same_as_a_copy),
	KUNIT_CASE(zerocopy_keeps_the_pages),
	KUNIT_CASE(zerocopy_shows_a_rewritten_buffer),
	{}
};

static struct kunit_suite rxe_zerocopy_suite = {
	.name = "rxe_zerocopy",
	.test_cases = rxe_zerocopy_cases,
};

kunit_test_suite(rxe_zerocopy_suite);
