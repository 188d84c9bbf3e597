// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The scatter/gather list of a WQE, which says where a message's bytes are.
 *
 * Stage:	between a packet's payload and the memory of a consumer
 * In:		a part of a message
 * Out:		the bytes, copied, and the place where the next part begins
 * Context:	a side's run; process if one of the regions is paged on demand
 * Locks:	none
 * Never:	reads or writes what no SGE allows, whatever the message's length
 */
#include "rxe.h"
#include "rxe_crc_copy.h"
#include "rxe_loc.h"
#include "rxe_sge.h"

/* With a CRC for what leaves, if @crc */
static __always_inline int copy_sges(struct rxe_pd *pd, int access,
				     struct rxe_dma_info *dma, void *addr,
				     u32 length, enum rxe_mr_copy_dir dir,
				     struct rxe_mr **held, u32 *crc)
{
	u32 offset = dma->sge_offset;
	u32 cur = dma->cur_sge;
	u32 left = length;
	int err;

	if (length > dma->resid)
		return -EINVAL;

	while (left) {
		const struct rxe_sge *sge = &dma->sge[cur];
		struct rxe_mr *mr;
		u32 bytes;

		if (cur >= dma->num_sge)
			return -ENOSPC;

		if (offset >= sge->length) {
			offset = 0;
			cur++;
			continue;
		}

		mr = rxe_mr_hold(held, pd, access, sge->lkey,
				 RXE_LOOKUP_LOCAL);
		if (!mr)
			return -EINVAL;

		bytes = min(left, sge->length - offset);
		if (crc)
			err = rxe_crc_copy_mr(crc, addr, mr,
					      sge->addr + offset, bytes);
		else
			err = rxe_mr_copy(mr, sge->addr + offset, addr, bytes,
					  dir);
		if (err)
			return err;

		offset += bytes;
		addr += bytes;
		left -= bytes;
	}

	dma->cur_sge = cur;
	dma->sge_offset = offset;
	dma->resid -= length;
	return 0;
}

/**
 * rxe_sge_copy() - Copy the next bytes of a message
 * @pd: the QP's
 * @access: what the region has to allow besides reading, IB_ACCESS_*
 * @dma: the list and the place in it, which advances if all is well
 * @addr: of the bytes in a packet
 * @length: how many
 * @dir: to or from the packet
 * @held: see rxe_mr_hold()
 *
 * Return: 0, -EINVAL if the message or the key does not allow it, -ENOSPC if
 * the list is too short, or what rxe_mr_copy() fails with
 */
int rxe_sge_copy(struct rxe_pd *pd, int access, struct rxe_dma_info *dma,
		 void *addr, u32 length, enum rxe_mr_copy_dir dir,
		 struct rxe_mr **held)
{
	return copy_sges(pd, access, dma, addr, length, dir, held, NULL);
}

/**
 * rxe_sge_copy_crc() - Copy the next bytes of a message into a packet
 * @crc: of the bytes before them, as crc32_le() has it; with them, if all is well
 * @pd: the QP's
 * @dma: the list and the place in it, which advances if all is well
 * @addr: of the bytes in the packet
 * @length: how many
 * @held: see rxe_mr_hold()
 *
 * Return: as rxe_sge_copy()
 */
int rxe_sge_copy_crc(u32 *crc, struct rxe_pd *pd, struct rxe_dma_info *dma,
		     void *addr, u32 length, struct rxe_mr **held)
{
	return copy_sges(pd, 0, dma, addr, length, RXE_FROM_MR_OBJ, held, crc);
}
