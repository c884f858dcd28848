namespace Net.Zlink.Buffers;

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

        array[length - 1] = 0;
        return array;
    }
}
