// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes that are copied, and their CRC in the same pass.
 *
 * Stage:	tx, between a region and a packet's payload
 * In:		bytes, which their owner may be changing
 * Out:		a copy, and the CRC of what was copied
 * Context:	any; process if the region is paged on demand
 * Locks:	none
 * Never:	on receive, where nothing may be written before the ICRC is known
 *		to be right
 *
 * The loop keeps four lanes of 16 bytes. Carryless multiplication moves a lane
 * over the 64 bytes that follow, where the next of it is added: "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
 * What is left in the end, 16 bytes, has the CRC of the whole. A CPU with wider
 * vectors has a faster crc32_le(), which with a copy before it needs no more time
 * than this.
 */
#include <linux/bvec.h>
#include <linux/crc32.h>
#include <linux/highmem.h>
#include <linux/kasan-checks.h>
#include <linux/string.h>

#include "rxe.h"
#include "rxe_crc_copy.h"
#include "rxe_loc.h"

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML) && !defined(CONFIG_KMSAN)
#include <linux/cpufeature.h>
#include <asm/fpu/api.h>

#define BLOCK	64	/* four lanes */

/*
 * x^n modulo the CRC's polynomial, bits reversed, for the two halves of a lane
 * that moves on by so many bytes: n is 8 * bytes + 32 and 8 * bytes - 32, as in
 * the paper's table for the polynomial of Ethernet.
 */
struct move {
	u64	low;
	u64	high;
} __aligned(16);

static const struct move by64 = { 0x154442bd4, 0x1c6e41596 };
static const struct move by16 = { 0x1751997d0, 0x0ccaa009e };

/* The next 16 bytes, at @off, are in @lane */
#define COPY(off, lane)						\
	"movdqu " #off "(%[from], %[at]), %%xmm" #lane "\n\t"	\
	"movdqu %%xmm" #lane ", " #off "(%[to], %[at])\n\t"

/* By what is in xmm4 */
#define MOVE(lane)						\
	"movdqa %%xmm" #lane ", %%xmm5\n\t"			\
	"pclmulqdq $0x00, %%xmm4, %%xmm5\n\t"			\
	"pclmulqdq $0x11, %%xmm4, %%xmm" #lane "\n\t"		\
	"pxor %%xmm5, %%xmm" #lane "\n\t"

#define MOVE_AND_ADD(off, lane)					\
	MOVE(lane) COPY(off, 6) "pxor %%xmm6, %%xmm" #lane "\n\t"

#define MOVE_ONTO(lane, next)					\
	MOVE(lane) "pxor %%xmm" #lane ", %%xmm" #next "\n\t"

/*
 * @len is a multiple of BLOCK, and not 0. No compiler's code has anything in the
 * vector registers, so they are no clobbers, see kernel_fpu_begin().
 */
static u32 copy_blocks(u32 crc, void *to, const void *from, size_t len)
{
	u8 rest[16];
	size_t at = 0;

	kasan_check_read(from, len);
	kasan_check_write(to, len);
	kernel_fpu_begin();
	asm volatile("movd %[crc], %%xmm6\n\t"
		     COPY(0, 0) COPY(16, 1) COPY(32, 2) COPY(48, 3)
		     "pxor %%xmm6, %%xmm0\n\t"
		     "movdqa %[by64], %%xmm4\n\t"
		     "add $64, %[at]\n\t"
		     "jmp 2f\n"
		     "1:\n\t"
		     MOVE_AND_ADD(0, 0) MOVE_AND_ADD(16, 1)
		     MOVE_AND_ADD(32, 2) MOVE_AND_ADD(48, 3)
		     "add $64, %[at]\n"
		     "2:\n\t"
		     "cmp %[len], %[at]\n\t"
		     "jne 1b\n\t"
		     "movdqa %[by16], %%xmm4\n\t"
		     MOVE_ONTO(0, 1) MOVE_ONTO(1, 2) MOVE_ONTO(2, 3)
		     "movdqu %%xmm3, %[rest]\n\t"
		     : [at] "+r" (at), [rest] "=m" (rest)
		     : [crc] "r" (crc), [to] "r" (to), [from] "r" (from),
		       [len] "r" (len), [by64] "m" (by64), [by16] "m" (by16)
		     : "memory", "cc");
	kernel_fpu_end();
	return crc32_le(0, rest, sizeof(rest));
}

static bool can_copy_blocks(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) &&
	       !boot_cpu_has(X86_FEATURE_VPCLMULQDQ) && irq_fpu_usable();
}

#else
#define BLOCK	1

static u32 copy_blocks(u32 crc, void *to, const void *from, size_t len)
{
	return crc;
}

static bool can_copy_blocks(void)
{
	return false;
}
#endif

/**
 * rxe_crc_copy() - Copy bytes and go on with their CRC
 * @crc: of the bytes before them, as crc32_le() has it
 * @to: where to
 * @from: where from; what changes meanwhile is in the CRC as it is in the copy
 * @len: bytes
 *
 * Context: any.
 * Return: the CRC
 */
u32 rxe_crc_copy(u32 crc, void *to, const void *from, size_t len)
{
	size_t blocks = round_down(len, BLOCK);

	if (blocks && can_copy_blocks()) {
		crc = copy_blocks(crc, to, from, blocks);
		to += blocks;
		from += blocks;
		len -= blocks;
	}

	if (likely(!len))
		return crc;

	memcpy(to, from, len);
	return crc32_le(crc, to, len);
}

/* Of a region whose pages cannot be had, or are too many for a payload */
static noinline int copy_then_crc(u32 *crc, void *to, struct rxe_mr *mr,
				  u64 iova, u32 length)
{
	int err = rxe_mr_copy(mr, iova, to, length, RXE_FROM_MR_OBJ);

	if (!err)
		*crc = crc32_le(*crc, to, length);
	return err;
}

/**
 * rxe_crc_copy_mr() - Copy bytes of a region and go on with their CRC
 * @crc: as for rxe_crc_copy(); the CRC, if all is well
 * @to: where to
 * @mr: the region
 * @iova: where in it
 * @length: bytes, not 0
 *
 * Context: whoever holds the region; process if it is paged on demand.
 * Return: 0 or what rxe_mr_copy() fails with
 */
int rxe_crc_copy_mr(u32 *crc, void *to, struct rxe_mr *mr, u64 iova,
		    u32 length)
{
	struct bio_vec parts[2];
	unsigned int count = rxe_mr_pages(mr, iova, length, parts,
					  ARRAY_SIZE(parts));
	unsigned int i;

	if (!count)
		return copy_then_crc(crc, to, mr, iova, length);

	for (i = 0; i < count; i++) {
		void *from = bvec_kmap_local(&parts[i]);

		*crc = rxe_crc_copy(*crc, to, from, parts[i].bv_len);
		kunmap_local(from);
		to += parts[i].bv_len;
	}
	return 0;
}
