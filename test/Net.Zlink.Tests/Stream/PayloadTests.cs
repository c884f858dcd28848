using System.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Any payload goes either way unchanged, those that look like events in the native form included.</summary>
public sealed class PayloadTests
{
    public static TheoryData<int> Sizes => [0, 1, 2, 127, 1023, 1024, 4096, 16_379, 16_380, 16_383, 16_384, 16_385, 65_531, 65_532, 65_536,
        262_144, 1_000_000];

    [Theory]
    [InlineData((byte)0)]
    [InlineData((byte)1)]
    public async Task The_one_byte_payloads_00_and_01_are_data_in_both_directions(byte value)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await peer.SendFrameAsync(value);
        Assert.Equal([value], await socket.NextDataAsync(id));

        Assert.True(socket.To(id).TrySend([value]));
        socket.To(id).Send([value]);
        await socket.To(id).SendAsync(new[] { value }, Guard.Token).Guarded();
        Assert.Equal(1, socket.Broadcast([id], [value]));
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal([value], (await peer.ReadFrameAsync())!);
        }

        Assert.Equal(1, socket.PeerCount);
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public async Task Every_way_of_sending_writes_the_same_frame(int size)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(size);

        Assert.True(socket.To(id).TrySend(payload));
        socket.To(id).Send(payload);
        await socket.To(id).SendAsync(payload, Guard.Token).Guarded();
        IMemoryOwner<byte> owner = fixture.Pool.Rent(Math.Max(1, size));
        payload.CopyTo(owner.Memory.Span);
        await socket.To(id).SendAsync(owner, size, Guard.Token).Guarded();
        Assert.Equal(1, socket.Broadcast([id], payload));
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
        Assert.True(view.TrySend(payload));
        await view.SendAsync(payload, Guard.Token).Guarded();

        for (int i = 0; i < 7; i++)
        {
            Wire.AssertSame(payload, (await peer.ReadFrameAsync())!);
        }
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public async Task Payloads_go_between_two_sockets_of_this_library(int size)
    {
        await using var fixture = new StreamFixture();
        fixture.Bind(TestHandler.Echo(), out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.Equal(id, await client.NextConnectedAsync());
        byte[] payload = Wire.Pattern(size);
        for (int i = 0; i < 3; i++)
        {
            client.To(id).Send(payload);
            Wire.AssertSame(payload, await client.NextDataAsync(id));
        }
    }

    [Fact]
    public async Task A_buffer_of_a_send_that_fails_stays_with_the_caller()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        foreach (int length in (int[])[-1, 1_000_000])
        {
            IMemoryOwner<byte> owner = fixture.Pool.Rent(100);
            await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => socket.To(id).SendAsync(owner, length, Guard.Token).Guarded());
            owner.Memory.Span[0] = 1;
            owner.Dispose();
        }

        IMemoryOwner<byte> late = fixture.Pool.Rent(100);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => socket.To(id).SendAsync(late, 10, new CancellationToken(canceled: true)).Guarded());
        late.Memory.Span[0] = 1;
        ZlinkException gone = await Assert.ThrowsAsync<ZlinkException>(() => socket.To(id + 1).SendAsync(late, 10, Guard.Token).Guarded());
        Assert.Equal(ZlinkError.HostUnreachable, gone.Error);
        late.Memory.Span[0] = 2;
        late.Dispose();
    }
}
