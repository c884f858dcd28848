using System.Diagnostics;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A raw peer, that keeps all it is told.</summary>
internal sealed class WirePeer : IDisposable
{
    private readonly RawLine _line;
    private readonly WebSocketTalk? _webSocket;
    private readonly List<byte> _heard = [];
    private bool _hasEnded;

    private WirePeer(RawLine line, bool isClient, string head)
    {
        _line = line;
        _webSocket = head.Length > 0 ? new WebSocketTalk(isClient) : null;
    }

    /// <summary>As the other side's events name it.</summary>
    public string Name => _line.Name;

    /// <summary>The other side has ended the connection, be it in order or by a reset.</summary>
    public bool IsOver => _line.IsOver;

    /// <summary>What it was told, in the order of its coming.</summary>
    public ReadOnlySpan<byte> Heard => CollectionsMarshal.AsSpan(_heard);

    /// <summary>What it was told beside that, by WebSocket.</summary>
    public IEnumerable<string> Notes => _webSocket?.Notes ?? [];

    /// <summary>One that connects.</summary>
    public static WirePeer Connect(TestTransport transport, string endpoint, string head, TimeSpan limit)
    {
        var peer = new WirePeer(RawLine.Connect(transport, endpoint), isClient: true, head);
        if (peer._webSocket is { } talk)
        {
            peer._line.Write(talk.Head(head, endpoint.Split('/')[2]));
            peer.AwaitHead(limit);
        }

        return peer;
    }

    /// <summary>One that is connected to, or null if nobody connects in time.</summary>
    public static WirePeer? Accept(TestEndpoint at, Socket listener, string endpoint, string head, TimeSpan limit)
    {
        if (RawLine.Accept(at, listener, endpoint, limit) is not { } line)
        {
            return null;
        }

        var peer = new WirePeer(line, isClient: false, head);
        if (peer._webSocket is { } talk)
        {
            peer.AwaitHead(limit);
            line.Write(talk.Head(head, ""));
        }

        return peer;
    }

    public void Write(WireStep.Write step)
    {
        ReadOnlySpan<byte> rest = step.Bytes;
        foreach (int piece in step.Pieces)
        {
            if (piece < rest.Length)
            {
                Write(rest[..piece], step.Wrapping);
                rest = rest[piece..];
                Listen(TimeSpan.FromMilliseconds(1));
            }
        }

        Write(rest, step.Wrapping);
    }

    public void Write(WireStep.WriteFrame step) => _line.Write(step.Frame);

    /// <summary>Asks something and waits for its answer, or for the end: what was written before has been read then.</summary>
    public void Ask(byte[] question, byte[] answer, TimeSpan limit)
    {
        Write(question, WebSocketTalk.WrapInOne);
        long start = Stopwatch.GetTimestamp();
        while (!IsOver && Heard.IndexOf(answer) < 0 && Stopwatch.GetElapsedTime(start) < limit)
        {
            Hear(TimeSpan.FromMilliseconds(10));
        }
    }

    /// <summary>Reads for so long, or until the end.</summary>
    public void Listen(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        TimeSpan left = time;
        while (!IsOver && !_hasEnded && left > TimeSpan.Zero)
        {
            Hear(left);
            left = time - Stopwatch.GetElapsedTime(start);
        }
    }

    public void End(bool resets)
    {
        _hasEnded = true;
        _line.End(resets);
    }

    public void Dispose() => _line.Dispose();

    private void AwaitHead(TimeSpan limit)
    {
        long start = Stopwatch.GetTimestamp();
        while (!IsOver && !_webSocket!.HasHead && Stopwatch.GetElapsedTime(start) < limit)
        {
            Hear(TimeSpan.FromMilliseconds(10));
        }
    }

    private void Hear(TimeSpan limit)
    {
        ReadOnlySpan<byte> read = _line.Read(limit);
        if (_webSocket is { } talk)
        {
            talk.Take(read, _heard);
        }
        else
        {
            _heard.AddRange(read);
        }
    }

    private void Write(ReadOnlySpan<byte> bytes, int wrapping) => _line.Write(_webSocket is { } talk ? talk.Wrap(bytes, wrapping) : bytes);
}
