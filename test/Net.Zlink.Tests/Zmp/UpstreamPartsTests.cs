using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Messages of several parts that an XSUB sends: each part may be a topic.</summary>
public sealed class UpstreamPartsTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://parts")]
    public async Task A_message_of_300_000_parts_is_sent_in_time_that_grows_with_their_number(string endpoint)
    {
        // Looked for from the front each time, its parts take a minute and more; one after the other 0.1 s.
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { MaxMessageParts = 300_000 });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        using var builder = new MessageBuilder(fixture.Pool);
        for (int i = 0; i < 300_000; i++)
        {
            builder.Add("x"u8);
        }

        Assert.True(await Task.Run(() => subscriber.TrySend(builder), Guard.Token).Guarded());
        using Message message = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(300_000, message.PartCount);
    }
}
