using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Zmp;

/// <summary>Where reads happen to end means nothing: the same frames cut into any batches give the same messages, subscriptions and faults
/// as in one batch, and every buffer comes back.</summary>
public sealed class InboundMessagesPropertyTests
{
    private static readonly Gen<byte[]> Body =
        from length in Gen.Frequency((2, Gen.Constant(0)), (6, Gen.Choose(1, 4)), (2, Gen.Choose(5, 300)), (1, Gen.Choose(9_000, 20_000)))
        from first in Gen.Frequency((60, Gen.Elements<byte>(0, 0, 1, 1, (byte)'a', (byte)'b')), (1, Gen.Constant(RecordingCore.OneTooMany)))
        from seed in Gen.Choose(0, 255)
        select Fill(length, first, seed);

    private static readonly Gen<InboundFrame> Frames =
        from flags in Gen.Frequency(
            (6, Gen.Constant(ZmpFlags.None)),
            (3, Gen.Constant(ZmpFlags.More)),
            (2, Gen.Elements(ZmpFlags.Subscribe, ZmpFlags.Cancel)),
            (1, Gen.Elements(ZmpFlags.Control, ZmpFlags.Identity)))
        from body in Body
        from isLastOfBatch in Gen.Frequency((3, Gen.Constant(value: false)), (2, Gen.Constant(value: true)))
        from hasOwnSlab in Gen.Frequency((5, Gen.Constant(value: false)), (1, Gen.Constant(value: true)))
        from isPinned in Gen.Frequency((7, Gen.Constant(value: false)), (1, Gen.Constant(value: true)))
        from taken in Gen.Choose(0, 3)
        select new InboundFrame(flags, body)
        {
            IsLastOfBatch = isLastOfBatch,
            HasOwnSlab = hasOwnSlab,
            IsPinned = isPinned,
            TakenBehind = taken
        };

    [Theory]
    [InlineData(nameof(InboundRole.All), false)]
    [InlineData(nameof(InboundRole.Filtered), false)]
    [InlineData(nameof(InboundRole.Subscriptions), false)]
    [InlineData(nameof(InboundRole.Subscriptions), true)]
    [InlineData(nameof(InboundRole.SubscriptionsAndData), false)]
    [InlineData(nameof(InboundRole.SubscriptionsAndData), true)]
    public void Cut_into_batches_anywhere_the_same_messages_come_out_as_of_one_batch(string role, bool onlyFirst)
    {
        using var uncut = new InboundFixture(Enum.Parse<InboundRole>(role), onlyFirst);
        using var cut = new InboundFixture(Enum.Parse<InboundRole>(role), onlyFirst);
        ForAllArrays(Frames, 100, some =>
        {
            InboundFrame[] frames = [.. some, .. some, .. some, .. some]; // More than fit one lease.
            IReadOnlyList<string> whole = uncut.PlayInOneBatch(frames);
            Assert.Equal(whole, cut.PlayCut(frames), StringComparer.Ordinal);
            Assert.Equal(whole, cut.PlayCut([.. frames.Select(static frame => frame with { IsLastOfBatch = true })]),
                StringComparer.Ordinal);
        });
    }

    [Fact]
    public void Messages_of_a_socket_without_subscriptions_are_what_was_sent_whatever_frames_lie_between_parts()
    {
        using var world = new InboundFixture(InboundRole.All, onlyFirst: false);
        ForAllArrays(Frames, 300, frames =>
        {
            InboundFrame[] data = [.. frames.Where(static frame => frame.Flags is not (ZmpFlags.Subscribe or ZmpFlags.Cancel))];
            List<string> expected = [];
            List<byte[]> parts = [];
            foreach (InboundFrame frame in data.Where(static frame => frame.Flags is ZmpFlags.None or ZmpFlags.More))
            {
                parts.Add(frame.Body);
                if (parts.Count > InboundFixture.MaxParts)
                {
                    expected.Add(InboundFixture.Refused);
                    break;
                }

                if (frame.Flags == ZmpFlags.None)
                {
                    expected.Add(InboundFixture.TextOf(parts));
                    parts.Clear();
                }
            }

            Assert.Equal(expected, world.PlayCut(data), StringComparer.Ordinal);
        });
    }

    private static byte[] Fill(int length, byte first, int seed)
    {
        byte[] body = Pattern(length, seed);
        if (length > 0)
        {
            body[0] = first;
        }

        return body;
    }
}
