namespace Net.Zlink.Buffers;

/// <summary>
/// Arrays on the pinned heap: socket calls need no pin handle. Not cleared: readers read only what was written since the rent.
/// </summary>
internal static class PinnedArray
{
    internal static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: true);

    /// <summary>Touches each page, so that page faults happen now and not under load.</summary>
    internal static byte[] AllocateTouched(int length)
    {
        byte[] array = Allocate(length);
        for (int offset = 0; offset < length; offset += Environment.SystemPageSize)
        {
            array[offset] = 0;
        }

        // An unaligned array's last byte can lie on one more page.
        array[length - 1] = 0;
        return array;
    }
}
