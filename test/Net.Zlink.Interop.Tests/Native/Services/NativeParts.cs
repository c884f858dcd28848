namespace Net.Zlink.Interop.Tests.Native;

/// <summary>Parts of a message as the native service calls take and give them.</summary>
internal static unsafe class NativeParts
{
    /// <summary>A call that takes parts: 0, or -1 with an error number.</summary>
    public delegate int Call(NativeMessageStruct* parts, nuint count);

    /// <summary>Copies the parts and calls; whether they were taken. What a failed call leaves is closed.</summary>
    public static NativeSendResult Send(IReadOnlyList<byte[]> parts, Call call)
    {
        var messages = new NativeMessageStruct[parts.Count];
        for (int i = 0; i < messages.Length; i++)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_msg_init_size(ref messages[i], (nuint)parts[i].Length), "init parts");
            parts[i].CopyTo(new Span<byte>(NativeFunctions.zlink_msg_data(ref messages[i]), parts[i].Length));
        }

        fixed (NativeMessageStruct* pointer = messages)
        {
            if (call(pointer, (nuint)messages.Length) == 0)
            {
                return NativeSendResult.Sent;
            }

            int error = NativeFunctions.LastError;
            for (int i = 0; i < messages.Length; i++)
            {
                NativeException.ThrowIfFailed(NativeFunctions.zlink_msg_close(ref messages[i]), "close parts");
            }

            return error switch
            {
                NativeErrno.Again => NativeSendResult.WouldBlock,
                NativeErrno.HostUnreachable => NativeSendResult.Unreachable,
                _ => throw new NativeException("send parts", error),
            };
        }
    }

    /// <summary>Copies received parts and closes the array.</summary>
    public static byte[][] Take(NativeMessageStruct* parts, nuint count)
    {
        byte[][] copies = new byte[(int)count][];
        for (int i = 0; i < copies.Length; i++)
        {
            copies[i] = new ReadOnlySpan<byte>(
                NativeFunctions.zlink_msg_data(ref parts[i]), checked((int)NativeFunctions.zlink_msg_size(ref parts[i]))).ToArray();
        }

        NativeFunctions.zlink_msgv_close(parts, count);
        return copies;
    }
}
