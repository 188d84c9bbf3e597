// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QEMU plugin that counts executed instructions, in user space and in the
 * kernel, into a file that the harness maps:
 *   -plugin insn_plugin.so,counts=PATH
 *
 * The file holds native-endian u64: user, kernel, the number of marks so far,
 * and user and kernel between the last two marks. Which of the two is told by the
 * address: x86-64 kernels run in the upper half. A translation block
 * counts as a whole when it is entered; one that is left early by a fault is
 * over-counted by what it did not execute.
 *
 * A mark is the no-op that guest/mark.c executes. The guest sets it where a
 * measurement begins and ends; when the host looks, the guest has long gone on
 * (idling costs instructions too: its timers expire at once in virtual time).
 *
 * One vCPU only: the additions are not atomic.
 *
 * The part of QEMU's plugin API (version 1) that is used is declared here:
 * the distribution ships no header for it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

typedef void (*vcpu_udata_cb)(unsigned int vcpu, void *data);
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
					      enum qemu_plugin_op op, void *ptr,
					      uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    vcpu_udata_cb cb,
					    enum qemu_plugin_cb_flags flags,
					    void *data);

EXPORT int qemu_plugin_version = 1;

static struct {
	uint64_t user;
	uint64_t kernel;
	uint64_t marks;
	uint64_t user_between;
	uint64_t kernel_between;
} *counts;

static const unsigned char mark[] = { 0x0f, 0x1f, 0x80, 'M', 'A', 'R', 'K' };

static void take_mark(unsigned int vcpu, void *data)
{
	static uint64_t user, kernel;		/* at the mark before */

	(void)vcpu;
	(void)data;
	counts->user_between = counts->user - user;
	counts->kernel_between = counts->kernel - kernel;
	counts->marks++;
	user = counts->user;
	kernel = counts->kernel;
}

/* Have take_mark() called for the marks in a block. */
static void find_marks(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, take_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static void count_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	int in_kernel = qemu_plugin_tb_vaddr(tb) >> 63;
	uint64_t *count = in_kernel ? &counts->kernel : &counts->user;

	(void)id;
	if (!in_kernel)
		find_marks(tb);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 count,
						 qemu_plugin_tb_n_insns(tb));
}

static int map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*counts))) {
		perror(path);
		return -1;
	}
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	close(fd);
	return counts == MAP_FAILED ? -1 : 0;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "counts=", 7)) {
		fprintf(stderr, "insn_plugin: needs counts=PATH\n");
		return -1;
	}
	if (map_counts(argv[0] + 7))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
	return 0;
}
