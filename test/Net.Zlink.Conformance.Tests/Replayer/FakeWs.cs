using System.Globalization;
using System.Text;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>The ws server's side of one connection of the <see cref="FakeStream"/>, right but for the owner's fault: bytes in, payload and
/// answers out.</summary>
internal sealed class FakeWs(Fault fault, Action<byte[]> send)
{
    private static readonly byte[] NormalClosure = [0x03, 0xE8];
    private static readonly byte[] ProtocolError = [0x03, 0xEA];
    private static readonly byte[] TooLong = [0x03, 0xF1];

    private readonly List<byte> _tail = [];

    public FakeWsState State { get; private set; }

    /// <summary>Takes bytes; returns the payload of the frames that became whole.</summary>
    public byte[] Take(ReadOnlySpan<byte> bytes)
    {
        _tail.AddRange(bytes);
        if (State is FakeWsState.Waiting)
        {
            Upgrade();
        }

        var payload = new List<byte>();
        while (State is FakeWsState.Open && TakeFrame() is { } some)
        {
            payload.AddRange(some);
        }

        return [.. payload];
    }

    /// <summary>Says CLOSE 1000.</summary>
    public void Close() => Close(NormalClosure);

    /// <summary>Says CLOSE 1009, and of what.</summary>
    public void CloseTooLong(uint length, long limit) =>
        Close([.. TooLong, .. Encoding.ASCII.GetBytes(
            string.Create(CultureInfo.InvariantCulture, $"frame of {length} bytes, MaxMessageSize is {limit}"))]);

    private void Upgrade()
    {
        byte[] all = [.. _tail];
        ReadOnlySpan<byte> method = "GET "u8;
        bool isHttp = method.StartsWith(all.AsSpan(0, Math.Min(all.Length, method.Length)));
        if (!isHttp || HttpHead.LengthOf(all) is not { } length)
        {
            State = isHttp ? FakeWsState.Waiting : FakeWsState.Refused;
            return;
        }

        _tail.RemoveRange(0, length);
        IReadOnlyDictionary<string, string> headers = HttpHead.TryParse(all.AsSpan(0, length))!.Headers;
        string? key = headers.GetValueOrDefault(WsUpgrade.KeyHeader);
        bool isOld = headers.TryGetValue("sec-websocket-version", out string? version) && version is not "13";
        State = key is null || isOld ? FakeWsState.Refused : FakeWsState.Open;
        string answer = State is FakeWsState.Open
            ? $"101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {WsUpgrade.Accept(key!)}"
            : isOld ? "426 Upgrade Required\r\nSec-WebSocket-Version: 13" : "400 Bad Request";
        send(Encoding.ASCII.GetBytes($"HTTP/1.1 {answer}\r\n\r\n"));
    }

    private byte[]? TakeFrame()
    {
        byte[] all = [.. _tail];
        if (WsFrame.IsBreach(all, isMasked: true) && fault is not Fault.TakesBrokenFrames)
        {
            Close(ProtocolError);
            return null;
        }

        if (WsFrame.TryRead(all) is not { } frame)
        {
            return null;
        }

        _tail.RemoveRange(0, frame.Size);

        switch (frame.Opcode)
        {
            case WsOpcode.Ping:
                send(fault is Fault.AnswersNoPing ? [] : WsFrame.Write(WsOpcode.Pong, frame.Payload));
                return [];
            case WsOpcode.Pong:
                return [];
            case WsOpcode.Close:
                Close(frame.Payload[..2]);
                return null;
            default:
                return frame.Payload;
        }
    }

    private void Close(byte[] code)
    {
        State = FakeWsState.Closing;
        send(fault is Fault.AnswersNoClose ? [] : WsFrame.Write(WsOpcode.Close, code));
    }
}

internal enum FakeWsState
{
    Waiting,
    Refused,
    Open,
    Closing,
}
