using System.Buffers;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>A MessageBuilder as the buffer writer of its next part.</summary>
public sealed class MessageWriterTests
{
    [Fact]
    public async Task A_serializer_writes_a_part_straight_into_the_message()
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair();
        PairSocket receiver = fixture.Context.CreatePair();
        receiver.Connect(sender.Bind("inproc://written"));
        using var builder = new MessageBuilder(fixture.Pool);
        for (int i = 0; i < 2; i++)
        {
            builder.Add("topic");
            using (var json = new Utf8JsonWriter((IBufferWriter<byte>)builder))
            {
                JsonSerializer.Serialize(json, new[] { 1, 2, 3 });
            }

            Assert.Equal(1, builder.Count);
            sender.Send(builder.EndPart().Add("end"));
            using Message message = receiver.Receive(Guard.Limit);
            Assert.Equal(["topic", "[1,2,3]", "end"], Enumerable.Range(0, message.PartCount).Select(part => message.GetString(part)),
                StringComparer.Ordinal);
        }
    }

    [Fact]
    public void Parts_written_in_pieces_are_the_parts_that_come_out() =>
        Prop.ForAll(ArbMap.Default.ArbFor<byte[][][]>(), static parts => AssertWritten(parts))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(SlowTests.Rounds(20, all: 50)));

    [Fact]
    public void A_part_that_grows_past_every_buffer_stays_whole()
    {
        using var builder = new MessageBuilder();
        byte[] expected = new byte[300_000];
        new Random(1).NextBytes(expected);
        for (int i = 0; i < expected.Length; i += 1_000)
        {
            expected.AsSpan(i, 1_000).CopyTo(builder.GetSpan(1_000));
            builder.Advance(1_000);
        }

        using Message message = builder.EndPart().ToMessage();
        Assert.Equal(expected, message.Memory.ToArray());
    }

    [Fact]
    public void A_message_with_a_part_that_is_not_ended_takes_no_other_part_and_is_not_sent()
    {
        using var builder = new MessageBuilder();
        builder.Write("half"u8);
        Assert.Throws<InvalidOperationException>(() => builder.Add("x"));
        Assert.Throws<InvalidOperationException>(() => builder.AddSpace(1).Length);
        Assert.Throws<InvalidOperationException>(() => builder.ToMessage());
        Assert.Throws<InvalidOperationException>(() => builder.Advance(int.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => builder.Advance(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => builder.GetMemory(-1));
        builder.Clear();
        using (Message message = builder.Add("x").EndPart().ToMessage())
        {
            Assert.Equal(("x", 0), (message.GetString(), message[1].Length));
        }

        builder.Dispose();
        Assert.Throws<ObjectDisposedException>(() => builder.GetMemory());
        Assert.Throws<ObjectDisposedException>(() => builder.Advance(0));
        Assert.Throws<ObjectDisposedException>(() => builder.EndPart());
    }

    private static void AssertWritten(byte[][][] parts)
    {
        var pool = new BufferPool(new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies, LeakCheck = true });
        using (var builder = new MessageBuilder(pool))
        {
            builder.Add([]);
            foreach (byte[][] pieces in parts)
            {
                foreach (byte[] piece in pieces)
                {
                    builder.Write(piece);
                }

                builder.EndPart();
            }

            using Message message = builder.ToMessage();
            Assert.Equal(parts.Select(static pieces => pieces.SelectMany(static piece => piece).ToArray()), message.ToArrays().Skip(1));
        }

        Assert.Empty(pool.GetOutstanding());
    }
}
