/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_SGE_H
#define RXE_SGE_H

#include <linux/types.h>

#include "rxe_verbs.h"

/* A side's run */
int rxe_sge_copy(struct rxe_pd *pd, int access, struct rxe_dma_info *dma,
		 void *addr, u32 length, enum rxe_mr_copy_dir dir,
		 struct rxe_mr **held);

int rxe_sge_copy_crc(u32 *crc, struct rxe_pd *pd, struct rxe_dma_info *dma,
		     void *addr, u32 length, struct rxe_mr **held);

#endif /* RXE_SGE_H */
