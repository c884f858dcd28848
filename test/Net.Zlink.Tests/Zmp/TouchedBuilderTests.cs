using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A builder that its owner goes on using while a send of it waits: a forgotten await, as a rule, which shows only where there is
/// no room.</summary>
public sealed class TouchedBuilderTests
{
    public enum Touch
    {
        Added,
        Cleared,
        BuiltAnew,
        Disposed,
    }

    public static TheoryData<bool, Touch> Cases => new(
        from isInproc in (bool[])[false, true]
        from touch in Enum.GetValues<Touch>()
        select (isInproc, touch));

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task A_send_whose_builder_was_touched_while_it_waited_fails_and_sends_nothing_of_it(bool isInproc, Touch touch)
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 1 });
        string endpoint = isInproc ? "inproc://touched" : RawListener.NobodyListens();
        sender.Connect(endpoint);
        sender.Send("before"u8); // Nobody takes it yet.
        using var builder = new MessageBuilder(fixture.Pool);
        Task waiting = sender.SendAsync(builder.Add("a"u8).Add("b"u8), Guard.Token).AsTask();
        Assert.False(waiting.IsCompleted);
        switch (touch)
        {
            case Touch.Added:
                builder.Add("sneaked in"u8);
                break;
            case Touch.Cleared:
                builder.Clear();
                break;
            case Touch.BuiltAnew:
                builder.Clear();
                builder.Add("c"u8).Add("d"u8);
                break;
            default:
                builder.Dispose();
                break;
        }

        Task behind = sender.SendAsync("behind"u8.ToArray(), Guard.Token).AsTask();
        PairSocket receiver = fixture.Context.CreatePair();
        receiver.Bind(endpoint);
        List<string> received = [];
        while (received.Count < 2)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
            received.Add(string.Join('|', message.ToArrays().Select(Encoding.ASCII.GetString)));
        }

        await behind.Guarded();
        Assert.Equal(["before", "behind"], received);
        InvalidOperationException failure = await Assert.ThrowsAsync<InvalidOperationException>(() => waiting.Guarded());
        Assert.Contains("Await a send before you use its builder again", failure.Message, StringComparison.Ordinal);
        Assert.Equal(2, sender.GetStatistics().AcceptedMessages);
    }
}
