namespace Net.Zlink.Buffers;

/// <summary>
/// Arrays on the pinned object heap: a socket call needs no pin handle, and the collector has nothing to move. Not cleared:
/// every reader reads only what was written since the rent.
/// </summary>
internal static class PinnedArray
{
    internal static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: true);

    /// <summary>Allocates and writes one byte to each page, so that the page fault happens now and not under load.</summary>
    internal static byte[] AllocateTouched(int length)
    {
        byte[] array = Allocate(length);
        for (int offset = 0; offset < length; offset += Environment.SystemPageSize)
        {
            array[offset] = 0;
        }

        // The array need not start on a page: its last byte can lie on one more.
        array[length - 1] = 0;
        return array;
    }
}
