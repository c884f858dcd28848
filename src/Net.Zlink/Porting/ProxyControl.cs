using System.Runtime.InteropServices;

namespace Net.Zlink.Porting;

internal sealed class ProxyControl(Proxy proxy, ProxyPort port)
{
    private Message _command;
    private MessageBuilder? _answer;
    private long _undeliverable;

    public long Undeliverable => Volatile.Read(ref _undeliverable);

    public bool HasPendingReply => _answer is not null;

    public bool Advance()
    {
        bool moved = false;
        while ((_answer is not null || TryRead()) && TryAnswer())
        {
            moved = true;
        }

        return moved;
    }

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
            proxy.Stop();
        }

        _answer.Add([]); // Unknown commands get an answer too, as in the native core.
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
