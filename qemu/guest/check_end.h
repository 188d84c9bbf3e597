/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One end of a check: the device, and for each plan a queue pair with its
 * completion queues, memory and, where the plan says so, shared receive
 * queue and memory window.
 */
#ifndef CHECK_END_H
#define CHECK_END_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <time.h>

#include "check_plan.h"
#include "check_side.h"

#define END_QKEY 0x11111111u
#define END_GUARD 64		/* untouchable bytes on either side */
#define END_GROUP_QPN 0xffffffu
#define END_GRH 40		/* what UD puts before a message */

/* What one end tells the other about itself. */
struct end_address {
	uint8_t gid[16];
	uint64_t buf;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t reserved;
};

struct end {
	/* Per process. */
	struct ibv_context *ctx;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	int gid_index;
	bool client;

	/* Per plan. */
	struct plan plan;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t window;	/* rkey of the bound window, 0: none */
	int group_sock;		/* keeps the host in the multicast group */
	char *buf;
	size_t buf_size;
	size_t changing;	/* bytes of buf that change during a wait */
	struct end_address self;
	struct end_address peer;
};

/* The rdma-core that this process runs with, as its file name tells it. */
static const char *end_library(void)
{
	static char path[256];
	Dl_info info;
	char *name;

	if (!dladdr((void *)ibv_get_device_list, &info) ||
	    !realpath(info.dli_fname, path))
		return "rdma-core of unknown version";
	name = strrchr(path, '/');
	return name ? name + 1 : path;
}

static void end_open(struct end *end, const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			break;
	if (!list || !list[i])
		fail("-d %s: no such RDMA device", device);
	end->ctx = ibv_open_device(list[i]);
	if (!end->ctx)
		fail("-d %s: cannot open: %s", device, strerror(errno));
	ibv_free_device_list(list);
	if (ibv_query_device_ex(end->ctx, NULL, &end->attr) ||
	    ibv_query_port(end->ctx, 1, &end->port))
		fail("-d %s: cannot query: %s", device, strerror(errno));
	if (end->port.state != IBV_PORT_ACTIVE)
		fail("-d %s: port 1 is not active but %s", device,
		     ibv_port_state_str(end->port.state));
}

/* The RoCE v2 GID with the side channel's own address, or @index if >= 0. */
static void end_find_gid(struct end *end, int index)
{
	struct ibv_gid_entry entries[64];
	char text[INET6_ADDRSTRLEN];
	struct in6_addr want = side_address();
	ssize_t n, i;

	n = ibv_query_gid_table(end->ctx, entries, 64, 0);
	for (i = 0; i < n; i++) {
		if (index >= 0 ? entries[i].gid_index == (uint32_t)index :
		    entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entries[i].gid.raw, &want, sizeof(want)))
			break;
	}
	if (i >= n)
		fail("%s has no RoCE v2 GID %s (index %d, %zd GIDs)",
		     ibv_get_device_name(end->ctx->device),
		     inet_ntop(AF_INET6, &want, text, sizeof(text)), index, n);
	end->gid_index = entries[i].gid_index;
	memcpy(end->self.gid, entries[i].gid.raw, sizeof(end->self.gid));
}

/* Bytes from one slot to the next for messages of @size. */
static size_t end_stride(uint32_t size)
{
	return (2 * END_GUARD + END_GRH + 8 + (size_t)size + 63) / 64 * 64;
}

/* Where message @msg of @size lies in slot @slot of a buffer at @base. */
static uint64_t end_place(const struct plan *plan, uint64_t base,
			  uint32_t slot, uint32_t size, uint64_t msg)
{
	uint64_t place = base + slot * end_stride(size) + END_GUARD;

	if (plan_op(plan)->atomic)
		return place;
	/* Every alignment takes its turn. */
	place += msg & 7;
	return plan->type == IBV_QPT_UD ? place + END_GRH : place;
}

static void end_alloc(struct end *end)
{
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (end->plan.flags & PLAN_WINDOW || end->plan.op == OP_SEND_INV)
		access |= IBV_ACCESS_MW_BIND;
	else
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_ATOMIC;
#ifdef HAVE_IBV_WR_FLUSH
	if (end->plan.op == OP_FLUSH)
		access |= IBV_ACCESS_FLUSH_GLOBAL;
#endif
	end->buf_size = end_stride(plan_max_size(&end->plan)) *
			end->plan.depth;
	end->buf = mmap(NULL, end->buf_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (end->buf == MAP_FAILED)
		fail("%zu bytes of memory: %s", end->buf_size,
		     strerror(errno));
	end->mr = ibv_reg_mr(end->pd, end->buf, end->buf_size, access);
	if (!end->mr)
		fail("ibv_reg_mr of %zu bytes, access 0x%x: %s",
		     end->buf_size, access, strerror(errno));
}

static struct ibv_cq *end_cq(struct end *end)
{
	struct ibv_cq *cq = ibv_create_cq(end->ctx, end->plan.depth + 8, NULL,
					  end->channel, 0);

	if (!cq)
		fail("ibv_create_cq: %s", strerror(errno));
	if (end->channel && ibv_req_notify_cq(cq, 0))
		fail("ibv_req_notify_cq: %s", strerror(errno));
	return cq;
}

static uint64_t end_send_ops(const struct end *end)
{
	uint64_t ops = plan_op(&end->plan)->send_flag;

	/* For the try with a stale key, and for the window itself. */
	if (end->plan.type != IBV_QPT_UD)
		ops |= IBV_QP_EX_WITH_RDMA_WRITE;
	if (end->plan.type == IBV_QPT_RC)
		ops |= IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	return ops;
}

static void end_create_qp(struct end *end)
{
	const struct plan *plan = &end->plan;
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.cap = { .max_send_wr = 2 * plan->depth + 2,
			 .max_recv_wr = plan->depth,
			 .max_send_sge = plan->sges,
			 .max_recv_sge = plan->sges },
		.qp_type = plan->type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = end->pd,
		.send_ops_flags = end_send_ops(end),
	};

	if (plan->flags & PLAN_INLINE)
		init.cap.max_inline_data = plan_max_size(plan);
	end->qp = ibv_create_qp_ex(end->ctx, &init);
	if (!end->qp && (errno == EOPNOTSUPP || errno == ENOSYS))
		skip("%s has no %s on %s queue pairs", end_library(),
		     plan_op(plan)->name, plan_type_name(plan));
	if (!end->qp)
		fail("ibv_create_qp_ex (%s, inline %u): %s",
		     plan_type_name(plan), init.cap.max_inline_data,
		     strerror(errno));
	end->qpx = ibv_qp_to_qp_ex(end->qp);
	if (!end->qpx)
		fail("ibv_qp_to_qp_ex: no extended queue pair");
}

static void end_check_capability(const struct end *end)
{
	const struct op_kind *kind = plan_op(&end->plan);
	unsigned int caps = end->attr.orig_attr.device_cap_flags;

	if (!kind->send_flag)
		skip("%s has no ibv_wr_%s", end_library(), kind->name);
	if (kind->atomic && end->attr.orig_attr.atomic_cap == IBV_ATOMIC_NONE)
		skip("the device has no atomics");
	if ((end->plan.flags & PLAN_WINDOW || end->plan.op == OP_SEND_INV) &&
	    !(caps & (IBV_DEVICE_MEM_WINDOW_TYPE_2A |
		      IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
		skip("the device has no type 2 memory windows");
}

/* Everything a plan needs, up to a queue pair in RESET. */
static void end_create(struct end *end)
{
	const struct plan *plan = &end->plan;
	struct ibv_srq_init_attr srq = { NULL, { plan->depth, plan->sges, 0 } };

	end_check_capability(end);
	end->pd = ibv_alloc_pd(end->ctx);
	if (!end->pd)
		fail("ibv_alloc_pd: %s", strerror(errno));
	if (plan->flags & PLAN_EVENTS) {
		end->channel = ibv_create_comp_channel(end->ctx);
		if (!end->channel)
			fail("ibv_create_comp_channel: %s", strerror(errno));
	}
	end->send_cq = end_cq(end);
	end->recv_cq = end_cq(end);
	if (plan->flags & PLAN_SRQ) {
		end->srq = ibv_create_srq(end->pd, &srq);
		if (!end->srq)
			fail("ibv_create_srq: %s", strerror(errno));
	}
	end_alloc(end);
	if (plan->flags & PLAN_WINDOW || plan->op == OP_SEND_INV) {
		end->mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
		if (!end->mw)
			fail("ibv_alloc_mw type 2: %s", strerror(errno));
	}
	end_create_qp(end);
	end->self.buf = (uintptr_t)end->buf;
	end->self.rkey = end->mr->rkey;
	end->self.qpn = end->qp->qp_num;
	end->self.psn = pattern_word(plan->seed, end->self.qpn, 0) & 0xffffff;
}

#define END_DESTROY(what, call)						\
	do {								\
		int error_ = (what) ? (call) : 0;			\
		if (error_)						\
			fail("%s: %s", #call, strerror(error_));	\
		(what) = NULL;						\
	} while (0)

/* A destructor that fails is a finding: something still holds the object. */
static void end_destroy(struct end *end)
{
	END_DESTROY(end->ah, ibv_destroy_ah(end->ah));
	END_DESTROY(end->qp, ibv_destroy_qp(end->qp));
	END_DESTROY(end->mw, ibv_dealloc_mw(end->mw));
	END_DESTROY(end->srq, ibv_destroy_srq(end->srq));
	END_DESTROY(end->mr, ibv_dereg_mr(end->mr));
	END_DESTROY(end->recv_cq, ibv_destroy_cq(end->recv_cq));
	END_DESTROY(end->send_cq, ibv_destroy_cq(end->send_cq));
	END_DESTROY(end->channel, ibv_destroy_comp_channel(end->channel));
	END_DESTROY(end->pd, ibv_dealloc_pd(end->pd));
	munmap(end->buf, end->buf_size);
	end->window = 0;
}

#endif
