using System.Text;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>What a ws implementation does otherwise than the recording: rightly, or wrongly.</summary>
public enum WsDistortion
{
    // Its own affair: the replay must pass.
    OtherMasks,
    FragmentsEveryMessage,
    JoinsMessages,
    OtherHeaderOrder,
    CapitalHeaderNames,
    MoreHeaders,

    // Wrong in the upgrade
    AnotherAccept,
    NoUpgradeHeader,
    AnotherStatus,
    ShortKey,
    AnotherHost,
    AnotherPath,
    NotHttp,

    // Wrong in the frames
    WrongMasking,
    ReservedBit,
    UnknownOpcode,
    Text,
    EmptyMessage,
    PaddedLength,
    FragmentedControl,
    AnotherControlPayload,
    NoControl,
    ControlTwice,
    AnotherByte,
    AByteLess,
    AByteMore,
    HalfAFrameMore,
}

/// <summary>Puts distortions into recorded bytes.</summary>
internal static class WsDistortions
{
    private static readonly byte[] OtherMask = [0xDE, 0xAD, 0xBE, 0xEF];

    public static byte[] Apply(WsDistortion distortion, WireRecord record, byte[] bytes)
    {
        int head = record.Http is null ? 0 : HttpHead.LengthOf(bytes)!.Value;
        byte[] upgrade = head == 0 ? [] : Encoding.Latin1.GetBytes(Head(distortion, Encoding.Latin1.GetString(bytes.AsSpan(0, head))));
        if (record.Payload is null && record.Control.Count == 0)
        {
            return [.. upgrade, .. bytes[head..]];
        }

        var frames = new List<WsFrame>();
        for (int at = head; at < bytes.Length; at += frames[^1].Size)
        {
            frames.Add(WsFrame.TryRead(bytes.AsSpan(at))!);
        }

        if (distortion is WsDistortion.JoinsMessages && frames.Count > 1)
        {
            frames = [frames[0] with { Payload = [.. frames.SelectMany(frame => frame.Payload)] }];
        }

        return [.. upgrade, .. frames.SelectMany(frame => Frame(distortion, frame, frame.IsMasked ? OtherMask : null))];
    }

    private static string Head(WsDistortion distortion, string head)
    {
        string[] lines = head.Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        IEnumerable<string> rest = lines.Skip(1);
        return distortion switch
        {
            WsDistortion.OtherHeaderOrder => Joined(lines[0], rest.Reverse()),
            WsDistortion.CapitalHeaderNames => Joined(
                lines[0], rest.Select(line => line.Split(": ")[0].ToUpperInvariant() + ": " + line.Split(": ")[1])),
            WsDistortion.MoreHeaders => Joined(lines[0], rest.Append("X-More: yes")),
            WsDistortion.AnotherAccept => head.Replace("Accept: ", "Accept: x", StringComparison.Ordinal),
            WsDistortion.NoUpgradeHeader => Joined(lines[0], rest.Where(line => !line.StartsWith("Upgrade", StringComparison.Ordinal))),
            WsDistortion.AnotherStatus => head.Replace("HTTP/1.1 ", "HTTP/1.1 2", StringComparison.Ordinal),
            WsDistortion.ShortKey => head.Replace("Key: ", "Key: AAAA", StringComparison.Ordinal),
            WsDistortion.AnotherHost => head.Replace("Host: 127.0.0.1", "Host: localhost", StringComparison.Ordinal),
            WsDistortion.AnotherPath => head.Replace("GET /", "GET /x", StringComparison.Ordinal),
            WsDistortion.NotHttp => head.Replace("HTTP/1.1", "SIP/2.0", StringComparison.Ordinal),
            _ => head,
        };
    }

    private static string Joined(string first, IEnumerable<string> headers) => string.Join("\r\n", headers.Prepend(first)) + "\r\n\r\n";

    private static byte[] Frame(WsDistortion distortion, WsFrame frame, byte[]? mask)
    {
        byte[] payload = frame.Payload;
        byte[] plain = WsFrame.Write(frame.Opcode, payload, mask);
        return (distortion, frame.IsControl) switch
        {
            (WsDistortion.FragmentsEveryMessage, false) =>
                [.. WsFrame.Write(frame.Opcode, payload.AsSpan(0, 1), mask, isFinal: false),
                .. WsFrame.Write(WsOpcode.Continuation, payload.AsSpan(1), mask)],
            (WsDistortion.WrongMasking, _) => WsFrame.Write(frame.Opcode, payload, mask is null ? OtherMask : null),
            (WsDistortion.ReservedBit, _) => WsFrame.Write(frame.Opcode, payload, mask, reserved: 4),
            (WsDistortion.UnknownOpcode, _) => WsFrame.Write((WsOpcode)((int)frame.Opcode | 5), payload, mask),
            (WsDistortion.Text, false) => WsFrame.Write(WsOpcode.Text, payload, mask),
            (WsDistortion.EmptyMessage, false) => [.. plain, .. WsFrame.Write(WsOpcode.Binary, [], mask)],
            (WsDistortion.PaddedLength, _) when payload.Length < 126 =>
                [plain[0], (byte)((plain[1] & 0x80) | 126), 0, .. plain[1..].Select((value, at) => at == 0 ? (byte)(value & 0x7F) : value)],
            (WsDistortion.FragmentedControl, true) =>
                [.. WsFrame.Write(frame.Opcode, payload.AsSpan(0, 1), mask, isFinal: false),
                .. WsFrame.Write(WsOpcode.Continuation, payload.AsSpan(1), mask)],
            (WsDistortion.AnotherControlPayload, true) => WsFrame.Write(frame.Opcode, [.. payload[..^1], (byte)(payload[^1] ^ 1)], mask),
            (WsDistortion.NoControl, true) => [],
            (WsDistortion.ControlTwice, true) => [.. plain, .. plain],
            (WsDistortion.AnotherByte, false) => WsFrame.Write(frame.Opcode, [.. payload[..^1], (byte)(payload[^1] ^ 1)], mask),
            (WsDistortion.AByteLess, false) => WsFrame.Write(frame.Opcode, payload.AsSpan(1), mask),
            (WsDistortion.AByteMore, false) => WsFrame.Write(frame.Opcode, [.. payload, 0], mask),
            (WsDistortion.HalfAFrameMore, _) => [.. plain, .. plain[..1]],
            _ => plain,
        };
    }
}
