using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tool.Tests;

public sealed class SocketCommandTests
{
    [Fact]
    public async Task A_subscriber_prints_what_a_publisher_sends_in_the_format_that_it_was_given()
    {
        (ToolFixture publisher, string endpoint) =
            await ToolFixture.ListenAsync("pub", "--bind", "tcp://127.0.0.1:*", "price.EUR", "1.17", "-n", "1000", "-r", "100");
        await using (publisher)
        {
            Assert.Equal((0, "price.EUR\t1.17\nprice.EUR\t1.17\n", ""), await ToolFixture.RunAsync("sub", endpoint, "price.", "-n", "2"));
            Assert.Equal((0, "70726963652e455552 312e3137\n", ""),
                await ToolFixture.RunAsync("sub", endpoint, "trade.", "price.", "-n", "1", "-f", "hex"));
            (int code, string json, _) = await ToolFixture.RunAsync("sub", endpoint, "-n", "1", "-f", "json");
            Assert.Equal(0, code);
            Assert.EndsWith(""","parts":["price.EUR","1.17"]}""" + "\n", json, StringComparison.Ordinal);
        }

        Assert.Equal(ExitCode.Stopped, await publisher.Ended);
    }

    [Fact]
    public async Task Peers_that_leave_without_their_answer_end_neither_reply_nor_stream_echo()
    {
        await using var context = new ZlinkContext();
        (ToolFixture reply, string router) = await ToolFixture.ListenAsync("reply", "--bind", "tcp://127.0.0.1:*");
        (ToolFixture echo, string stream) = await ToolFixture.ListenAsync("stream", "--bind", "tcp://127.0.0.1:*", "--echo");
        await using (reply)
        await using (echo)
        {
            for (int i = 0; i < 20; i++)
            {
                using DealerSocket dealer = context.CreateDealer().ConnectedTo(router);
                await dealer.SendAsync("x", Guard.Token);
                using StreamSocket client = context.CreateStream();
                uint peer = await client.ConnectAsync(stream, Guard.Token).Guarded();
                await client.To(peer).SendAsync(new byte[1], Guard.Token);
            }

            DealerSocket last = context.CreateDealer().ConnectedTo(router);
            await last.SendAsync("x", Guard.Token);
            using Message answer = await last.ReceiveAsync(Guard.Token).AsTask().Guarded();
            Assert.Equal((ExitCode.Done, "x\n", ""), await ToolFixture.RunAsync("stream", stream, "x", "-n", "1"));
        }
    }

    [Fact]
    public async Task A_request_gets_its_reply()
    {
        (ToolFixture echo, string endpoint) = await ToolFixture.ListenAsync("reply", "--bind", "tcp://127.0.0.1:*");
        await using (echo)
        {
            Assert.Equal((0, "hello\tyou\n", ""), await ToolFixture.RunAsync("req", endpoint, "hello", "you"));
            Assert.Equal((0, "one\ntwo\n", ""), await ToolFixture.ReadAsync("one\ntwo\n", "req", endpoint));
            Assert.Equal("hello\tyou", await echo.LineAsync());
        }

        (ToolFixture fixedReply, endpoint) = await ToolFixture.ListenAsync("reply", "--bind", "tcp://127.0.0.1:*", "ok", "-n", "1");
        await using (fixedReply)
        {
            Assert.Equal((0, "ok\n", ""), await ToolFixture.RunAsync("req", endpoint, "hello"));
            Assert.Equal(ExitCode.Done, await fixedReply.Ended);
        }
    }

    [Theory]
    [InlineData]
    [InlineData("--pair")]
    public async Task What_is_pushed_line_by_line_is_pulled(params string[] type)
    {
        (ToolFixture puller, string endpoint) = await ToolFixture.ListenAsync(["pull", "--bind", "tcp://127.0.0.1:*", "-n", "3", .. type]);
        await using (puller)
        {
            Assert.Equal((0, "", ""), await ToolFixture.ReadAsync("a\tb\nc\n\n", ["push", endpoint, .. type]));
            Assert.Equal(ExitCode.Done, await puller.Ended);
            Assert.Equal(["a\tb", "c", ""], [await puller.LineAsync(), await puller.LineAsync(), await puller.LineAsync()]);
        }
    }

    [Fact]
    public async Task A_stream_prints_the_frames_that_come_back()
    {
        (ToolFixture echo, string endpoint) = await ToolFixture.ListenAsync("stream", "--bind", "tcp://127.0.0.1:*", "--echo");
        await using (echo)
        {
            Assert.Equal((0, "00ff\n00ff\n", ""), await ToolFixture.RunAsync("stream", endpoint, "00ff", "-n", "2", "-f", "hex"));
        }
    }

    [Fact]
    public async Task A_time_that_is_over_is_124_and_says_why_nothing_came()
    {
        (int code, string output, string errors) = await ToolFixture.RunAsync("req", "tcp://127.0.0.1:1", "hello", "-t", "0.5");
        Assert.Equal((ExitCode.TimeOver, ""), (code, output));
        Assert.Matches("^zlink: the time is over; tcp://127.0.0.1:1 is not connected: no process listens at 127.0.0.1:1.*\n$", errors);
    }

    [Fact]
    public async Task A_message_that_no_peer_took_in_time_is_no_success()
    {
        (int code, _, string errors) = await ToolFixture.RunAsync("push", "tcp://127.0.0.1:1", "hello", "-t", "0.5");
        Assert.Equal(ExitCode.TimeOver, code);
        Assert.StartsWith("zlink: ", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_peer_of_another_type_ends_the_command_with_the_reason()
    {
        (ToolFixture publisher, string endpoint) = await ToolFixture.ListenAsync("pub", "--bind", "tcp://127.0.0.1:*", "x");
        await using (publisher)
        {
            (int code, _, string errors) = await ToolFixture.RunAsync("req", endpoint, "hello");
            Assert.Equal(ExitCode.Failed, code);
            Assert.Contains("PUB", errors, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("tcp//nonsense", "sub", "tcp//nonsense")]
    [InlineData("zlink sub --help", "sub")]
    [InlineData("--count", "sub", "tcp://127.0.0.1:1", "--count", "many")]
    [InlineData("'bogus'", "bogus")]
    [InlineData("'bogus'", "registry", "bogus")]
    [InlineData("write one of text, hex, json", "sub", "tcp://127.0.0.1:1", "-f", "xml")]
    [InlineData("write one of age, in, out", "top", "--sort", "name")]
    [InlineData("--turbo", "sub", "tcp://127.0.0.1:1", "--turbo")]
    [InlineData("hexadecimal", "req", "tcp://127.0.0.1:1", "0g", "-f", "hex")]
    [InlineData("""{"parts":""", "req", "tcp://127.0.0.1:1", "-f", "json")]
    public async Task A_mistake_is_one_line_that_says_what_to_do(string named, params string[] arguments)
    {
        (int code, string output, string errors) = await ToolFixture.ReadAsync("[]\n", arguments);
        Assert.Equal((ExitCode.Usage, ""), (code, output));
        string line = Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.StartsWith("zlink: ", line, StringComparison.Ordinal);
        Assert.Contains(named, line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Bytes_that_are_no_text_survive_json_and_do_not_reach_a_terminal()
    {
        (ToolFixture echo, string endpoint) = await ToolFixture.ListenAsync("reply", "--bind", "tcp://127.0.0.1:*");
        await using (echo)
        {
            (_, string json, _) = await ToolFixture.ReadAsync("""[{"hex":"1b5bff"},"é"]""", "req", endpoint, "-f", "json");
            Assert.Contains(""" "parts":[{"hex":"1b5bff"},"é"]}""".TrimStart(), json, StringComparison.Ordinal);
            (_, string text, _) = await ToolFixture.ReadAsync("\u001b[2J\n", "req", endpoint);
            Assert.Equal("\\x1b[2J\n", text);
        }
    }

    [Theory]
    [InlineData("sub", "zlink sub tcp://127.0.0.1:5556 price. trade.")]
    [InlineData("push", "zlink has no PUSH")]
    public async Task Help_explains_a_command_and_has_examples(string command, string expected)
    {
        (int code, string help, string errors) = await ToolFixture.RunAsync(command, "--help");
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(expected, help, StringComparison.Ordinal);
        Assert.Contains("--timeout", help, StringComparison.Ordinal);
    }
}
