using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_xpub_nodrop.</summary>
public sealed class XpubNodropTests
{
    private const int Mark = 2000;

    [Fact]
    public async Task Sends_below_the_mark_pass_and_are_all_received()
    {
        await using var fixture = new StreamFixture();
        (XPubSocket xpub, SubSocket sub) = await ConnectAsync(fixture);
        for (int i = 0; i < Mark - 1; i++)
        {
            xpub.Say($"{i}");
        }

        for (int i = 0; i < Mark - 1; i++)
        {
            Assert.Equal($"{i}", await sub.HearOneAsync());
        }

        sub.HearsNothing();
    }

    [Fact]
    public async Task Messages_that_an_XPUB_sent_before_EAGAIN_are_all_received()
    {
        await using var fixture = new StreamFixture();
        (XPubSocket xpub, SubSocket sub) = await ConnectAsync(fixture);
        xpub.Options.SendTimeout = TimeSpan.Zero;
        int sent = 0;
        ZlinkError error = ZlinkError.None;
        while (error == ZlinkError.None)
        {
            try
            {
                xpub.Send(SocketWords.Bytes($"{sent}"));
                sent++;
            }
            catch (TimeoutException)
            {
                error = ZlinkError.Again;
            }
        }

        Assert.Equal("EAGAIN", error.ToNativeName());

        // Inproc is one queue of both marks.
        Assert.Equal(Mark + sub.Options.ReceiveHighWaterMark, sent);
        for (int i = 0; i < sent; i++)
        {
            Assert.Equal($"{i}", await sub.HearOneAsync());
        }

        sub.HearsNothing();
        xpub.Send("again"u8);
        Assert.Equal("again", await sub.HearOneAsync());
    }

    private static async Task<(XPubSocket XPub, SubSocket Sub)> ConnectAsync(StreamFixture fixture)
    {
        XPubSocket xpub = fixture.Context.CreateXPub(new XPubOptions { SendHighWaterMark = Mark, NoDrop = true });
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1000 });
        sub.Connect(xpub.Bind(Link.Any(Link.Inproc)));
        sub.Subscribe("");
        Assert.Equal("\u0001", await xpub.HearOneAsync());
        return (xpub, sub);
    }
}
