// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Marks this moment for the instruction counter (insn_plugin.c), which records
 * its counts whenever this no-op is executed: so counting begins and ends
 * where the guest says, not where the host happens to look. Elsewhere it does
 * nothing.
 */
int main(void)
{
#ifdef __x86_64__
	/* nopl 0x4b52414d(%rax): "MARK" */
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'M', 'A', 'R', 'K'");
#endif
	return 0;
}
