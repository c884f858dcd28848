using Net.Zlink.Services;
using Xunit;
using ServiceFrames = Net.Zlink.Services.Frames;

namespace Net.Zlink.Fuzzing;

/// <summary>The list that a registry publishes, and its answers.</summary>
internal sealed class ServiceListTarget : FuzzTarget
{
    public override IEnumerable<byte[]> Seeds =>
    [
        Framed([5, 0], [7, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0], [1, 0], Utf8("a"), [2, 0, 0, 0], Utf8("e1"), Utf8("i1"),
            [3, 0, 0, 0], Utf8("e2"), [], [0, 0, 0, 0], [2, 0], Utf8("b"), [1, 0, 0, 0], Utf8("e3"), Utf8("i3"), [5, 0, 0, 0],
            ListRemovals.Encode([new EntryKey(new ServiceKey(1, new ServiceText("a")), new ServiceText("e9"))])),
        Framed([2, 0], [0], Utf8("tcp://a:1"), Utf8("error"), [0x5A, 0x52, 0x47, 1]),
    ];

    public override byte[][] Words =>
    [
        [2, 5, 0], [2, 6, 0], [4, 1, 0, 0, 0], [2, 1, 0], [2, (byte)'e', (byte)'1'], [0], [4, 255, 255, 255, 255],
        [8, 0x5A, 0x52, 0x47, 1, 1, 0, 1, (byte)'a'],
    ];

    protected override void Try(byte[] input)
    {
        var frames = new ServiceFrames(Frames(input));
        if (RegistrationFrames.TryReadAck(frames, out byte status, out string error))
        {
            Reached(Math.Min((int)status, 4) + (RegistrationFrames.HasMark(frames) ? 8 : 0));
            Assert.NotNull(error);
        }

        if (!ServiceListHeader.TryRead(frames, out ServiceListHeader header))
        {
            Assert.True(frames.Count < ServiceListHeader.FrameCount || !frames.TryReadUInt16(0, out ushort id) || id is not (5 or 6)
                || !frames.TryReadUInt32(1, out _) || !frames.TryReadUInt64(2, out _) || !frames.TryReadUInt32(3, out _));
            return;
        }

        SortedDictionary<ServiceKey, ListedService> services = ServiceListReader.Read(frames, header);
        List<EntryKey> removed = ListRemovals.Read(frames);
        ListedService[] listed = [.. services.Values];
        var written = new MessageBuilder();
        ServiceListWriter.Write(written, header, listed);
        byte[] removals = ListRemovals.Encode(removed);
        if (removals.Length > 0)
        {
            written.Add(removals);
        }

        var again = new ServiceFrames([.. Enumerable.Range(0, written.Count).Select(index => written[index].ToArray())]);
        long counted = ServiceListWriter.ByteCount(listed) + (removals.Length > 0 ? 8 + removals.Length : 0);
        Assert.InRange(again.ByteCount(), counted - (4 * sizeof(ulong)), counted); // The header's frames count as 8 bytes each.
        written.Dispose();
        Assert.True(ServiceListHeader.TryRead(again, out ServiceListHeader headerAgain));
        Assert.Equal(header with { ServiceCount = (uint)listed.Length }, headerAgain);
        Assert.Equal(removed, ListRemovals.Read(again));
        SortedDictionary<ServiceKey, ListedService> servicesAgain = ServiceListReader.Read(again, headerAgain, services);
        Assert.Equal(services.Keys, servicesAgain.Keys);
        Assert.All(servicesAgain, pair => Assert.Same(services[pair.Key], pair.Value));
    }
}

internal static class FrameCounting
{
    /// <summary>As a queue counts them: 8 bytes before each frame.</summary>
    public static long ByteCount(this in ServiceFrames frames)
    {
        long bytes = 0;
        for (int i = 0; i < frames.Count; i++)
        {
            bytes += 8 + frames[i].Length;
        }

        return bytes;
    }
}
