// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * verbs_check: do RDMA operations between two hosts deliver every byte?
 *
 *	server	verbs_check -d rxe0
 *	client	verbs_check -d rxe0 -t rc -o send,write -s 1,4096 ADDRESS
 *
 * ADDRESS is the server's and decides which GIDs are used: those with the
 * two addresses of the TCP connection between the ends. Only the client has
 * options about the check. Exit status 0 passed, 1 failed, 77 skipped.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>

#include "check_pattern.h"
#include "check_connect.h"
#include "check_group.h"
#include "check_ends.h"

static const char usage[] =
"usage: verbs_check -d DEVICE [-p PORT] [-x GID-INDEX] [-T SECONDS]\n"
"       verbs_check -d DEVICE [options] ADDRESS\n"
"  -t TYPE   rc, uc or ud (rc)\n"
"  -o OPS    send,send_imm,send_inv,write,write_imm,read,cmp_swap,\n"
"            fetch_add,atomic_write,flush (send)\n"
"  -s SIZES  bytes of a message, comma-separated (64)\n"
"  -n COUNT  messages per size (16), -b BYTES at most (2097152)\n"
"  -m MTU    path MTU in bytes (the port's)\n"
"  -D DEPTH  messages in flight (8), -l LIST posted at once (1)\n"
"  -g SGES   elements per message (1; more needs -c)\n"
"  -r N      time-out of the queue pair, 4.096 us << N (16)\n"
"  -M GROUP  multicast address to send to (ud)\n"
"  -S SEED   of the data\n"
"  -e sleep on events   -i inline data   -q shared receive queue\n"
"  -w through a memory window   -c ibv_post_send() instead of ibv_wr_*()\n"
"  -X corrupt a byte, which must make the check fail\n"
"  -f completion flags must be exactly those of verbs.h\n"
"  -z each round first with data that change while they are sent\n"
"  -W MS     limit for one completion (20000), -T SECONDS for all (120)\n";

struct options {
	const char *device;
	const char *host;
	struct plan plan;
	uint32_t ops[OP_COUNT];
	uint32_t op_count;
	uint16_t port;
	int gid_index;
	unsigned int seconds;
};

/* Options of a check; the flags' letters stand in the order of plan_flag. */
static bool parse_plan_option(struct options *opts, int letter, char *arg)
{
	static const char flags[] = "eiqwcXfz";
	struct plan *plan = &opts->plan;

	switch (letter) {
	case 't':
		plan->type = plan_parse_type(arg);
		return true;
	case 'o':
		opts->op_count = plan_parse_ops(arg, opts->ops);
		return true;
	case 's':
		plan_parse_sizes(plan, arg);
		return true;
	case 'n':
		plan->messages = plan_number("-n", arg, 1, 1u << 30);
		return true;
	case 'b':
		plan->budget = plan_number("-b", arg, 1, 1ull << 40);
		return true;
	case 'm':
		plan->mtu = plan_number("-m", arg, 256, 4096);
		return true;
	case 'D':
		plan->depth = plan_number("-D", arg, 1, POST_MAX_LIST);
		return true;
	case 'l':
		plan->list = plan_number("-l", arg, 1, POST_MAX_LIST);
		return true;
	case 'g':
		plan->sges = plan_number("-g", arg, 1, PLAN_MAX_SGES);
		return true;
	case 'r':
		plan->ack_timeout = plan_number("-r", arg, 1, 31);
		return true;
	case 'M':
		group_parse(plan, arg);
		return true;
	case 'S':
		plan->seed = plan_number("-S", arg, 0, UINT64_MAX);
		return true;
	}
	if (!strchr(flags, letter))
		return false;
	plan->flags |= 1u << (strchr(flags, letter) - flags);
	return true;
}

static void parse(struct options *opts, int argc, char **argv)
{
	int letter;

	while ((letter = getopt(argc, argv, "d:x:p:T:W:t:o:s:n:b:m:D:l:g:r:S:M:"
				"eiqwcXfz")) != -1) {
		if (letter == '?') {
			fputs(usage, stderr);
			exit(CHECK_FAILED);
		}
		if (letter == 'd')
			opts->device = optarg;
		else if (letter == 'x')
			opts->gid_index = plan_number("-x", optarg, 0, 1023);
		else if (letter == 'p')
			opts->port = plan_number("-p", optarg, 1, 65535);
		else if (letter == 'T')
			opts->seconds = plan_number("-T", optarg, 1, 86400);
		else if (letter == 'W')
			opts->plan.wait_ms = plan_number("-W", optarg, 1,
							 3600000);
		else
			parse_plan_option(opts, letter, optarg);
	}
	if (!opts->device || optind + 1 < argc) {
		fputs(usage, stderr);
		exit(CHECK_FAILED);
	}
	opts->host = optind < argc ? argv[optind] : NULL;
}

static void run_client(struct end *end, struct options *opts)
{
	uint32_t i;

	end->client = true;
	side_connect(opts->host, opts->port, opts->plan.wait_ms);
	end_find_gid(end, opts->gid_index);
	if (!opts->plan.mtu)
		opts->plan.mtu = 128u << end->port.active_mtu;
	for (i = 0; i < opts->op_count; i++) {
		uint64_t messages;

		end->plan = opts->plan;
		end->plan.op = opts->ops[i];
		plan_check(&end->plan);
		check_doing[0] = 0;
		side_send(&end->plan, sizeof(end->plan));
		end_create(end);
		connect_ends(end);
		messages = ends_run(end);
		end_destroy(end);
		printf("%s %s: %llu messages in %u sizes\n",
		       plan_type_name(&end->plan), plan_op(&end->plan)->name,
		       (unsigned long long)messages, end->plan.size_count);
	}
	end->plan.op = OP_END;
	side_send(&end->plan, sizeof(end->plan));
}

static void run_server(struct end *end, struct options *opts)
{
	side_accept(opts->port, opts->plan.wait_ms);
	end_find_gid(end, opts->gid_index);
	for (;;) {
		check_doing[0] = 0;
		side_recv(&end->plan, sizeof(end->plan));
		if (end->plan.magic != PLAN_MAGIC)
			fail("the client is another verbs_check");
		if (end->plan.op == OP_END)
			return;
		end_create(end);
		group_join(end);
		connect_ends(end);
		ends_run(end);
		group_leave(end);
		end_destroy(end);
	}
}

int main(int argc, char **argv)
{
	struct options opts = {
		.plan = { .magic = PLAN_MAGIC, .type = IBV_QPT_RC,
			  .depth = 8, .list = 1, .sges = 1, .messages = 16,
			  .ack_timeout = 16, .wait_ms = 20000,
			  .size_count = 1, .budget = 2 << 20, .seed = 1,
			  .sizes = { 64 } },
		.ops = { OP_SEND }, .op_count = 1,
		.port = 18520, .gid_index = -1, .seconds = 120,
	};
	struct end end = { 0 };

	parse(&opts, argc, argv);
	check_role = opts.host ? "verbs_check client" : "verbs_check server";
	signal(SIGALRM, check_late);
	alarm(opts.seconds);
	end_open(&end, opts.device);
	if (opts.host)
		run_client(&end, &opts);
	else
		run_server(&end, &opts);
	ibv_close_device(end.ctx);
	return CHECK_OK;
}
