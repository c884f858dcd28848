using Xunit;

namespace Net.Zlink.Services.Tests.Support;

/// <summary>What a message becomes on its way.</summary>
internal static class Encoding
{
    /// <summary>The parts that something writes.</summary>
    public static byte[][] Of(Action<MessageBuilder> write)
    {
        using var context = new ZlinkContext();
        using PairSocket receiver = context.CreatePair();
        receiver.Bind("inproc://encoding");
        using PairSocket sender = context.CreatePair();
        sender.Connect("inproc://encoding");
        using var message = new MessageBuilder(context.Pool);
        write(message);
        Assert.True(sender.TrySend(message));
        Assert.True(receiver.TryReceive(out Message received));
        using (received)
        {
            return received.ToArrays();
        }
    }
}
