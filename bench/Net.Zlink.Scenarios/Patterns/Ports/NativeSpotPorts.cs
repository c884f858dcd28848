using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>A native publisher under the topic of the native program.</summary>
internal readonly unsafe struct NativeSpotPublisherPort(nint publisher) : IServerPort
{
    public void Send(ReadOnlySpan<byte> payload)
    {
        NativeMessageStruct message = default;
        NativeSocket.Check(NativeFunctions.zlink_msg_init_size(ref message, (nuint)payload.Length), "message");
        payload.CopyTo(new Span<byte>(NativeFunctions.zlink_msg_data(ref message), payload.Length));
        fixed (byte* topic = "bench\0"u8)
        {
            NativeSocket.Check(NativeFunctions.zlink_spot_pub_publish(publisher, topic, &message, 1, NativeFlags.None), "publish");
        }
    }

    public bool TrySend(ReadOnlySpan<byte> payload)
    {
        Send(payload);
        return true;
    }

    public void Receive(Span<byte> payload) => throw new NotSupportedException();

    public bool TryReceive(Span<byte> payload) => throw new NotSupportedException();

    public int ReceiveMany(Span<byte> payload, int most) => throw new NotSupportedException();

    public void Answer(ReadOnlySpan<byte> payload) => throw new NotSupportedException();
}

/// <summary>A native subscriber, polled.</summary>
internal readonly unsafe struct NativeSpotSubscriberPort(nint subscriber) : IPort
{
    // What the native library asks for.
    private const int LongestTopic = 256;

    public void Send(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public bool TrySend(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void Receive(Span<byte> payload)
    {
        while (!TryReceive(payload))
        {
            Thread.Yield();
        }
    }

    public bool TryReceive(Span<byte> payload)
    {
        byte* topic = stackalloc byte[LongestTopic];
        if (NativeFunctions.zlink_spot_sub_recv(
            subscriber, out NativeMessageStruct* parts, out nuint count, NativeFlags.DontWait, topic, out _) < 0)
        {
            return NativeFunctions.LastError == NativeErrno.Again ? false : throw new NativeException("receive", NativeFunctions.LastError);
        }

        byte* received = NativeFunctions.zlink_msg_data(ref parts[0]);
        new ReadOnlySpan<byte>(received, (int)NativeFunctions.zlink_msg_size(ref parts[0])).CopyTo(payload);
        NativeFunctions.zlink_msgv_close(parts, count);
        return true;
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = 0;
        while (count < most && TryReceive(payload))
        {
            count++;
        }

        return count;
    }
}
