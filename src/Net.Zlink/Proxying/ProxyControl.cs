using System.Runtime.InteropServices;

namespace Net.Zlink;

/// <summary>Reads a proxy's commands from its control socket and answers each, where the socket's type can send.</summary>
internal sealed class ProxyControl(Proxy proxy, ProxyPort port)
{
    private Message _command;
    private MessageBuilder? _answer;
    private long _undeliverable;

    /// <summary>Answers that the socket could not take, because it conflates.</summary>
    public long Undeliverable => Volatile.Read(ref _undeliverable);

    /// <summary>An answer found no room yet.</summary>
    public bool HasPendingReply => _answer is not null;

    /// <summary>Carries out what commands there are. An answer that finds no room holds up the next command.</summary>
    /// <returns>True if there was something to do.</returns>
    public bool Advance()
    {
        bool moved = false;
        while ((_answer is not null || TryRead()) && TryAnswer())
        {
            moved = true;
        }

        return moved;
    }

    /// <summary>Drops the answer that found no room.</summary>
    public void Drop()
    {
        _answer?.Dispose();
        _answer = null;
        _command.Dispose();
        _command = default;
    }

    private bool TryRead()
    {
        if (!port.TryReceive(out _command))
        {
            return false;
        }

        _answer = new MessageBuilder();
        ReadOnlySpan<byte> name = _command.PartCount == 1 ? _command.Span : [];
        if (name.SequenceEqual("STATISTICS"u8))
        {
            AddStatistics(_answer);
            return true;
        }

        if (name.SequenceEqual("PAUSE"u8))
        {
            proxy.Pause();
        }
        else if (name.SequenceEqual("RESUME"u8))
        {
            proxy.Resume();
        }
        else if (name.SequenceEqual("TERMINATE"u8))
        {
            proxy.Terminate();
        }

        _answer.Add([]); // To everything else too, as natively: who asks gets an answer.
        return true;
    }

    private bool TryAnswer()
    {
        ZlinkError error = port.HasSender ? port.TrySend(_command.RoutingId.Span, _answer!) : ZlinkError.None;
        if (error == ZlinkError.Again)
        {
            return false;
        }

        if (error == ZlinkError.InvalidArgument)
        {
            Volatile.Write(ref _undeliverable, _undeliverable + 1);
        }

        Drop();
        return true;
    }

    /// <summary>The eight native numbers, in the byte order of this machine, as natively.</summary>
    private void AddStatistics(MessageBuilder answer)
    {
        ProxyStatistics now = proxy.GetStatistics();
        foreach (ProxyTraffic traffic in (ReadOnlySpan<ProxyTraffic>)[now.FrontReceived, now.FrontSent, now.BackReceived, now.BackSent])
        {
            AddNumber(answer, traffic.Parts);
            AddNumber(answer, traffic.Bytes);
        }
    }

    private static void AddNumber(MessageBuilder answer, long value)
    {
        ulong number = (ulong)value;
        answer.Add(MemoryMarshal.AsBytes(new ReadOnlySpan<ulong>(in number)));
    }
}
