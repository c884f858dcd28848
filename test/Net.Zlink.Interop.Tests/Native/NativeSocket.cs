using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>What became of a send that did not throw.</summary>
internal enum NativeSendResult
{
    Sent,

    /// <summary>EAGAIN: no room, or no peer, within the timeout.</summary>
    WouldBlock,

    /// <summary>EHOSTUNREACH: a ROUTER with the mandatory option knows no such peer.</summary>
    Unreachable,
}

/// <summary>A native socket. As the core wants it: one thread at a time.</summary>
internal sealed unsafe class NativeSocket(nint handle) : IDisposable
{
    // The core's own default, wait for ever: what has been set last is not set again.
    private int _sendTimeout = -1;
    private int _receiveTimeout = -1;
    private NativeMonitor? _monitor;

    public nint Handle { get; private set; } = handle;

    /// <summary>The endpoint of the last bind or connect, with the port that was chosen.</summary>
    public string LastEndpoint => Encoding.UTF8.GetString(GetOption(NativeOption.LastEndpoint)).TrimEnd('\0');

    public void Bind(string endpoint) => NativeException.ThrowIfFailed(NativeFunctions.zlink_bind(Handle, endpoint), $"bind {endpoint}");

    public void Connect(string endpoint) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_connect(Handle, endpoint), $"connect {endpoint}");

    public void Unbind(string endpoint) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_unbind(Handle, endpoint), $"unbind {endpoint}");

    public void Disconnect(string endpoint) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_disconnect(Handle, endpoint), $"disconnect {endpoint}");

    public void SetOption(int option, int value)
    {
        Span<byte> bytes = stackalloc byte[sizeof(int)];
        MemoryMarshal.Write(bytes, value);
        SetOption(option, bytes);
    }

    public void SetOption(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_setsockopt(Handle, option, pointer, (nuint)value.Length),
                $"set option {option}");
        }
    }

    public int GetInt32Option(int option) => BinaryPrimitives.ReadInt32LittleEndian(GetOption(option, sizeof(int)));

    // The longest values are texts of 256 bytes.
    public byte[] GetOption(int option, int capacity = 512)
    {
        byte[] value = new byte[capacity];
        nuint length = (nuint)value.Length;
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_getsockopt(Handle, option, pointer, ref length), $"get option {option}");
        }

        return value[..(int)length];
    }

    /// <summary>0, or an error's number.</summary>
    public int TrySetOption(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            return NativeFunctions.zlink_setsockopt(Handle, option, pointer, (nuint)value.Length) == 0 ? 0 : NativeFunctions.LastError;
        }
    }

    /// <summary>The bytes, or an error's number, as text.</summary>
    public string TryGetOption(int option, int capacity)
    {
        byte[] value = new byte[capacity + 1]; // A pointer to none would be another case.
        nuint length = (nuint)capacity;
        fixed (byte* pointer = value)
        {
            return NativeFunctions.zlink_getsockopt(Handle, option, pointer, ref length) == 0 ? OptionText.Of(value.AsSpan(0, (int)length))
                : OptionText.Of(NativeFunctions.LastError);
        }
    }

    /// <summary>Sends all parts as one message; waits for room so long.</summary>
    public NativeSendResult Send(IReadOnlyList<byte[]> parts, TimeSpan timeout)
    {
        SetTimeout(ref _sendTimeout, NativeOption.SendTimeout, NativeTime.Milliseconds(timeout));
        for (int i = 0; i < parts.Count; i++)
        {
            NativeFlags flags = i + 1 < parts.Count ? NativeFlags.SendMore : NativeFlags.None;
            while (!SendPart(parts[i], flags))
            {
                switch (NativeFunctions.LastError)
                {
                    case NativeErrno.Interrupted:
                        continue;
                    // Only a first part may be refused; after it the message is on its way.
                    case NativeErrno.Again when i == 0:
                        return NativeSendResult.WouldBlock;
                    case NativeErrno.HostUnreachable when i == 0:
                        return NativeSendResult.Unreachable;
                    default:
                        throw new NativeException($"send part {i} of {parts.Count}", NativeFunctions.LastError);
                }
            }
        }

        return NativeSendResult.Sent;
    }

    /// <summary>The next whole message, or null after the timeout.</summary>
    public byte[][]? Receive(TimeSpan timeout)
    {
        SetTimeout(ref _receiveTimeout, NativeOption.ReceiveTimeout, NativeTime.Milliseconds(timeout));
        List<byte[]> parts = [];
        long start = Stopwatch.GetTimestamp();
        while (true)
        {
            var message = default(NativeMessageStruct);
            NativeException.ThrowIfFailed(NativeFunctions.zlink_msg_init(ref message), nameof(NativeFunctions.zlink_msg_init));
            try
            {
                if (NativeFunctions.zlink_msg_recv(ref message, Handle, NativeFlags.None) < 0)
                {
                    int error = NativeFunctions.LastError;
                    if (error == NativeErrno.Again && parts.Count == 0)
                    {
                        return null;
                    }

                    if (error != NativeErrno.Interrupted)
                    {
                        throw new NativeException("receive", error);
                    }

                    SetTimeout(ref _receiveTimeout, NativeOption.ReceiveTimeout,
                        NativeTime.Milliseconds(timeout - Stopwatch.GetElapsedTime(start)));
                    continue;
                }

                parts.Add(new ReadOnlySpan<byte>(NativeFunctions.zlink_msg_data(ref message),
                    checked((int)NativeFunctions.zlink_msg_size(ref message))).ToArray());
                if (NativeFunctions.zlink_msg_more(ref message) == 0)
                {
                    return [.. parts];
                }
            }
            finally
            {
                NativeException.ThrowIfFailed(NativeFunctions.zlink_msg_close(ref message), nameof(NativeFunctions.zlink_msg_close));
            }
        }
    }

    /// <summary>Starts the socket's monitor, once.</summary>
    public NativeMonitor OpenMonitor(NativeEventTypes events = NativeEventTypes.All)
    {
        // The last event tells when nothing more comes.
        nint monitor = NativeFunctions.zlink_socket_monitor_open(Handle, events | NativeEventTypes.MonitorStopped);
        NativeException.ThrowIfFailed(monitor == 0 ? -1 : 0, nameof(NativeFunctions.zlink_socket_monitor_open));
        _monitor = new NativeMonitor(monitor);
        return _monitor;
    }

    /// <summary>The socket's peers, with those that are not connected yet.</summary>
    public NativePeerInfo[] GetPeers()
    {
        nuint count = 0;
        NativeException.ThrowIfFailed(NativeFunctions.zlink_socket_peers(Handle, null, ref count),
            nameof(NativeFunctions.zlink_socket_peers));
        var peers = new NativePeerInfoStruct[(int)count];
        fixed (NativePeerInfoStruct* pointer = peers)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_socket_peers(Handle, pointer, ref count),
                nameof(NativeFunctions.zlink_socket_peers));
        }

        return Array.ConvertAll(peers[..(int)count], static peer => new NativePeerInfo(
            peer.RoutingId.ToArray(), Marshal.PtrToStringUTF8((nint)peer.RemoteAddress)!, (long)peer.MessagesSent,
                (long)peer.MessagesReceived));
    }

    public void Dispose()
    {
        if (Handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_close(Handle), nameof(NativeFunctions.zlink_close));
            Handle = 0;
            _monitor?.End();
        }
    }

    private bool SendPart(ReadOnlySpan<byte> part, NativeFlags flags)
    {
        fixed (byte* pointer = part)
        {
            return NativeFunctions.zlink_send(Handle, pointer, (nuint)part.Length, flags) >= 0;
        }
    }

    private void SetTimeout(ref int current, int option, int milliseconds)
    {
        if (current != milliseconds)
        {
            SetOption(option, milliseconds);
            current = milliseconds;
        }
    }
}

/// <summary>What the core tells of one peer; whole messages, subscriptions among them.</summary>
internal sealed record NativePeerInfo(byte[] RoutingId, string RemoteAddress, long MessagesSent, long MessagesReceived);
