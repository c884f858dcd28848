using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_disconnect_inproc.</summary>
public sealed class DisconnectInprocTests
{
    [Fact]
    public async Task A_subscriber_gets_what_is_published_between_its_connect_and_its_disconnect()
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        SubSocket sub = fixture.Context.CreateSub();
        string endpoint = xpub.Bind(Link.Any(Link.Inproc));
        sub.Subscribe("foo");
        bool isSubscribed = false;
        int received = 0;
        for (int turn = 0; ; turn++)
        {
            while (xpub.TryReceive(out Message notice))
            {
                using (notice)
                {
                    Assert.Equal("foo", SocketWords.Text(notice.Span[1..]));
                    isSubscribed = notice.Span[0] == 1;
                }
            }

            while (sub.TryReceive(out Message publication))
            {
                using (publication)
                {
                    Assert.Equal(2, publication.PartCount);
                    received++;
                }
            }

            if (turn == 1)
            {
                sub.Connect(endpoint);
            }

            if (turn == 4)
            {
                sub.Disconnect(endpoint);
            }

            if (turn == 6)
            {
                break;
            }

            xpub.Say("foo", "this is foo!");
        }

        Assert.Equal(3, received);
        Assert.False(isSubscribed);
        Assert.Equal(0, xpub.TopicCount);
    }
}
