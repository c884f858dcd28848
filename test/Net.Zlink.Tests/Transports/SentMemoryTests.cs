using System.Buffers;
using System.Runtime.CompilerServices;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports;

/// <summary>Memory that was sent is nobody's any more.</summary>
public sealed class SentMemoryTests
{
    // Far more than the system takes at once: it leaves in several writes, which have to wait.
    private const int Length = 20_000_000;

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("ipc://*")]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0")]
    public async Task A_connection_keeps_nothing_of_a_long_message_that_has_left(string endpoint)
    {
        using var own = new TestCertificates();
        await using var fixture = new ContextFixture();
        DealerSocket receiver = fixture.Context.CreateDealer();
        receiver.Options.Tls.Certificate = own.Server;
        DealerSocket sender = fixture.Context.CreateDealer();
        sender.Options.Tls.CaFile = own.CaFile;
        sender.Connect(receiver.Bind(endpoint));

        WeakReference sent = await SendAsync(sender);
        using (Message message = await receiver.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(Length, message.Span.Length);
        }

        await fixture.UntilAsync(() =>
        {
            GC.Collect();
            return !sent.IsAlive;
        });
        Assert.Single(sender.GetPeers()); // Its connection is there.
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference> SendAsync(DealerSocket sender)
    {
        var memory = new Owned();
        var weak = new WeakReference(memory.Array);
        await sender.SendAsync(memory, Length, Guard.Token).Guarded();
        return weak;
    }

    private sealed class Owned : IMemoryOwner<byte>
    {
        public byte[] Array { get; private set; } = new byte[Length];

        public Memory<byte> Memory => Array;

        public void Dispose() => Array = [];
    }
}
