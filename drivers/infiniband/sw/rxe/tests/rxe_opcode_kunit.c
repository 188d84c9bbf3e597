// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a message is cut into packets: the requester's choice of opcode
 * (IBTA volume 1, section 9.2.1 and table 38) and the header table that
 * goes with it.
 *
 * Context: pure; no device, no network.
 */
#include <kunit/test.h>

#include "../rxe.h"
#include "../rxe_loc.h"

#define MTU	1024u

/* What one kind of work request must look like on the wire */
struct message {
	const char *name;
	enum ib_qp_type type;
	enum ib_wr_opcode wr;
	u32 only;		/* opcode of a message of one packet */
	u32 first;		/* opcodes of a longer one */
	u32 middle;
	u32 last;
};

static const struct message messages[] = {
	{ "RC send", IB_QPT_RC, IB_WR_SEND,
	  IB_OPCODE_RC_SEND_ONLY, IB_OPCODE_RC_SEND_FIRST,
	  IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_LAST },
	{ "RC send with immediate", IB_QPT_RC, IB_WR_SEND_WITH_IMM,
	  IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE, IB_OPCODE_RC_SEND_FIRST,
	  IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE },
	{ "RC send with invalidate", IB_QPT_RC, IB_WR_SEND_WITH_INV,
	  IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, IB_OPCODE_RC_SEND_FIRST,
	  IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE },
	{ "RC write", IB_QPT_RC, IB_WR_RDMA_WRITE,
	  IB_OPCODE_RC_RDMA_WRITE_ONLY, IB_OPCODE_RC_RDMA_WRITE_FIRST,
	  IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_LAST },
	{ "RC write with immediate", IB_QPT_RC, IB_WR_RDMA_WRITE_WITH_IMM,
	  IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	  IB_OPCODE_RC_RDMA_WRITE_FIRST, IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
	  IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE },
	{ "UC send", IB_QPT_UC, IB_WR_SEND,
	  IB_OPCODE_UC_SEND_ONLY, IB_OPCODE_UC_SEND_FIRST,
	  IB_OPCODE_UC_SEND_MIDDLE, IB_OPCODE_UC_SEND_LAST },
	{ "UC send with immediate", IB_QPT_UC, IB_WR_SEND_WITH_IMM,
	  IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE, IB_OPCODE_UC_SEND_FIRST,
	  IB_OPCODE_UC_SEND_MIDDLE, IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE },
	{ "UC write", IB_QPT_UC, IB_WR_RDMA_WRITE,
	  IB_OPCODE_UC_RDMA_WRITE_ONLY, IB_OPCODE_UC_RDMA_WRITE_FIRST,
	  IB_OPCODE_UC_RDMA_WRITE_MIDDLE, IB_OPCODE_UC_RDMA_WRITE_LAST },
	{ "UC write with immediate", IB_QPT_UC, IB_WR_RDMA_WRITE_WITH_IMM,
	  IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	  IB_OPCODE_UC_RDMA_WRITE_FIRST, IB_OPCODE_UC_RDMA_WRITE_MIDDLE,
	  IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE },
};

KUNIT_ARRAY_PARAM_DESC(message, messages, name);

static const u32 lengths[] = {
	0, 1, MTU - 1, MTU, MTU + 1, 2 * MTU - 1, 2 * MTU, 2 * MTU + 1,
	4 * MTU - 1, 4 * MTU, 4 * MTU + 1, 65536,
};

static struct rxe_qp *new_qp(struct kunit *test, enum ib_qp_type type)
{
	struct rxe_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ibqp.qp_type = type;
	qp->mtu = MTU;
	qp->req.opcode = -1;

	return qp;
}

static u32 expected(const struct message *m, u32 packet, u32 packets)
{
	if (packets == 1)
		return m->only;
	if (packet == 0)
		return m->first;

	return packet == packets - 1 ? m->last : m->middle;
}

static void opcode_cuts_a_message(struct kunit *test)
{
	const struct message *m = test->param_value;
	struct rxe_qp *qp = new_qp(test, m->type);
	struct rxe_send_wqe wqe = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 packets = max(1u, DIV_ROUND_UP(lengths[i], MTU));
		u32 n;

		wqe.dma.resid = lengths[i];
		for (n = 0; n < packets; n++) {
			int opcode = rxe_next_opcode(qp, &wqe, m->wr);

			KUNIT_ASSERT_EQ_MSG(test, opcode,
					    expected(m, n, packets),
					    "length %u packet %u of %u",
					    lengths[i], n, packets);
			qp->req.opcode = opcode;
			wqe.dma.resid -= min(wqe.dma.resid, MTU);
		}
		KUNIT_EXPECT_EQ(test, wqe.dma.resid, 0);
	}
}

/* Where a packet stands in its message, and which headers it carries there */
static void opcode_table_marks_the_ends(struct kunit *test)
{
	const struct message *m = test->param_value;
	u32 ends = RXE_START_MASK | RXE_END_MASK;
	bool write = m->wr == IB_WR_RDMA_WRITE ||
		     m->wr == IB_WR_RDMA_WRITE_WITH_IMM;
	bool imm = m->wr == IB_WR_SEND_WITH_IMM ||
		   m->wr == IB_WR_RDMA_WRITE_WITH_IMM;

	KUNIT_EXPECT_EQ(test, rxe_opcode[m->only].mask & ends, ends);
	KUNIT_EXPECT_EQ(test, rxe_opcode[m->first].mask & ends, RXE_START_MASK);
	KUNIT_EXPECT_EQ(test, rxe_opcode[m->middle].mask & ends, 0);
	KUNIT_EXPECT_EQ(test, rxe_opcode[m->last].mask & ends, RXE_END_MASK);

	KUNIT_EXPECT_EQ(test, !!(rxe_opcode[m->only].mask & RXE_RETH_MASK),
			write);
	KUNIT_EXPECT_EQ(test, !!(rxe_opcode[m->first].mask & RXE_RETH_MASK),
			write);
	KUNIT_EXPECT_FALSE(test, rxe_opcode[m->middle].mask & RXE_RETH_MASK);
	KUNIT_EXPECT_FALSE(test, rxe_opcode[m->last].mask & RXE_RETH_MASK);

	KUNIT_EXPECT_EQ(test, !!(rxe_opcode[m->only].mask & RXE_IMMDT_MASK),
			imm);
	KUNIT_EXPECT_EQ(test, !!(rxe_opcode[m->last].mask & RXE_IMMDT_MASK),
			imm);
	KUNIT_EXPECT_FALSE(test, rxe_opcode[m->first].mask & RXE_IMMDT_MASK);
	KUNIT_EXPECT_FALSE(test, rxe_opcode[m->middle].mask & RXE_IMMDT_MASK);
}

/* Bytes of each header behind the BTH: IBTA volume 1, sections 9.2 and 9.3 */
static const struct {
	u32 mask;
	int bytes;
} header_bytes[] = {
	{ RXE_IMMDT_MASK, 4 }, { RXE_RETH_MASK, 16 }, { RXE_AETH_MASK, 4 },
	{ RXE_ATMETH_MASK, 28 }, { RXE_ATMACK_MASK, 8 }, { RXE_IETH_MASK, 4 },
	{ RXE_RDETH_MASK, 4 }, { RXE_DETH_MASK, 8 }, { RXE_FETH_MASK, 4 },
};

static void opcode_table_adds_up(struct kunit *test)
{
	int known = 0;
	int op;
	int i;

	for (op = 0; op < RXE_NUM_OPCODE; op++) {
		int bytes = RXE_BTH_BYTES;

		if (!rxe_opcode[op].mask)
			continue;
		known++;
		for (i = 0; i < ARRAY_SIZE(header_bytes); i++)
			if (rxe_opcode[op].mask & header_bytes[i].mask)
				bytes += header_bytes[i].bytes;
		KUNIT_EXPECT_EQ_MSG(test, rxe_opcode[op].length, bytes,
				    "opcode 0x%02x", op);
	}
	KUNIT_EXPECT_GT(test, known, 40);
}

static void opcode_refuses_what_a_qp_cannot_send(struct kunit *test)
{
	struct rxe_send_wqe wqe = {};
	int wr;

	KUNIT_EXPECT_LT(test, rxe_next_opcode(new_qp(test, IB_QPT_UC), &wqe,
					      IB_WR_RDMA_READ), 0);
	KUNIT_EXPECT_LT(test, rxe_next_opcode(new_qp(test, IB_QPT_UD), &wqe,
					      IB_WR_RDMA_WRITE), 0);
	KUNIT_EXPECT_LT(test, rxe_next_opcode(new_qp(test, IB_QPT_XRC_INI),
					      &wqe, IB_WR_SEND), 0);
	for (wr = IB_WR_ATOMIC_WRITE + 1; wr < IB_WR_REG_MR; wr++)
		KUNIT_EXPECT_LT(test, rxe_next_opcode(new_qp(test, IB_QPT_RC),
						      &wqe, wr), 0);
}

static struct kunit_case rxe_opcode_cases[] = {
	KUNIT_CASE_PARAM(opcode_cuts_a_message, message_gen_params),
	KUNIT_CASE_PARAM(opcode_table_marks_the_ends, message_gen_params),
	KUNIT_CASE(opcode_table_adds_up),
	KUNIT_CASE(opcode_refuses_what_a_qp_cannot_send),
	{}
};

static struct kunit_suite rxe_opcode_suite = {
	.name = "rxe_opcode",
	.test_cases = rxe_opcode_cases,
};

kunit_test_suite(rxe_opcode_suite);
