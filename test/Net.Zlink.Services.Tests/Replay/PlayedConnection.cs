using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>The scripted side of a transcript, byte for byte on a plain connection.</summary>
/// <param name="peer">The connection.</param>
/// <param name="role">What is played, for failures.</param>
/// <param name="skipsHeartbeats">What ours sends has heartbeats that were not recorded.</param>
internal sealed class PlayedConnection(RawPeer peer, string role, bool skipsHeartbeats = false)
{
    private const byte Control = 0x02;
    private const byte Heartbeat = 0x02;

    private const int HeaderSize = 8;
    private const byte More = 0x01;

    public Task SendAsync(TranscriptRecord record) => peer.SendAsync(record.Bytes);

    /// <summary>Reads one message of ours, all frames.</summary>
    public async Task<TranscriptRecord> ReadAsync(bool fromA)
    {
        List<byte> bytes = [];
        while (true)
        {
            byte[] header = await peer.ReadAsync(HeaderSize);
            Assert.True(header.Length == HeaderSize, $"{role}: ours closed the connection");
            byte[] body = await peer.ReadAsync((int)BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(4)));
            if (skipsHeartbeats && header[2] == Control && body is [Heartbeat, ..])
            {
                continue;
            }

            bytes.AddRange(header);
            bytes.AddRange(body);
            if ((header[2] & More) == 0)
            {
                return TranscriptRecord.Parse(fromA, [.. bytes]);
            }
        }
    }

    /// <summary>Reads one message of ours, which has to be this one.</summary>
    public async Task ExpectAsync(TranscriptRecord record) => Same(record, await ReadAsync(record.FromA));

    public void Same(TranscriptRecord expected, TranscriptRecord came) =>
        Assert.True(expected.Bytes.AsSpan().SequenceEqual(came.Bytes),
            $"{role}: recorded was {Convert.ToHexStringLower(expected.Bytes)}, ours sent {Convert.ToHexStringLower(came.Bytes)}");

    /// <summary>Both handshakes, the scripted one first: neither side waits for the other.</summary>
    public async Task ShakeHandsAsync(ServiceTranscript transcript, bool oursIsA)
    {
        foreach (TranscriptRecord record in transcript.Handshake(ofA: !oursIsA))
        {
            await SendAsync(record);
        }

        foreach (TranscriptRecord record in transcript.Handshake(ofA: oursIsA))
        {
            await ExpectAsync(record);
        }
    }
}
