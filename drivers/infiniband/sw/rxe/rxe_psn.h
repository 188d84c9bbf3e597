/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_PSN_H
#define RXE_PSN_H

#include <linux/types.h>

/**
 * psn_compare() - The order of two packet sequence numbers
 * @a: a PSN; bits above the 24 do not count
 * @b: another one, less than half a circle away (IBTA volume 1, section 9.7.2)
 *
 * Return: 0 if they are equal, a positive number if @a comes after @b, else a
 * negative one
 */
static inline int psn_compare(u32 a, u32 b)
{
	return (s32)((a - b) << 8);
}

#endif /* RXE_PSN_H */
