using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>The chat sample in a real browser.</summary>
public sealed class WebSocketChatTests
{
    // Where to put pictures of the page, for somebody to look at.
    private const string PicturesVariable = "ZLINK_PICTURES";

    private static readonly Regex Ready = new(
        @"^READY (?<page>http://127\.0\.0\.1:\d+) \(chat at (?<chat>ws://[^)]+)\)",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant, Guard.Limit);

    [Fact]
    public async Task Two_tabs_see_each_other_come_talk_and_leave()
    {
        string? program = Chromium.Find();
        Assert.SkipWhen(program is null, "there is no Chromium here; Debian's package is called chromium");
        await using ChildProcess chat = Programs.Sample("WebSocketChat", "--port", "0").Start();
        (string page, _) = await ReadyAsync(chat);
        await using Chromium browser = await Chromium.StartAsync(program);

        Chromium.Tab ann = await browser.OpenAsync(page);
        await ann.UntilAsync(
            "document.getElementById('state')?.className === 'up' && document.getElementById('count').textContent === '1'");
        Chromium.Tab bob = await browser.OpenAsync(page);
        await ann.UntilAsync("document.getElementById('count').textContent === '2'");
        await NameAsync(ann, "Ann");
        await NameAsync(bob, "Bob <b>");
        await ann.UntilAsync("document.getElementById('here').innerText.includes('Bob <b>')");

        await SayAsync(ann, "Is anybody there?");
        await bob.UntilAsync("document.getElementById('lines').innerText.includes('Ann: Is anybody there?')");
        await SayAsync(bob, "Größe 😀");
        await ann.UntilAsync("document.getElementById('lines').innerText.includes('Bob <b>: Größe 😀')");
        await KeepPictureAsync(ann, "chat.png");
        Assert.Equal("1", await ann.RunAsync("document.querySelectorAll('#lines .mine').length"));

        await bob.CloseAsync();
        await ann.UntilAsync("document.getElementById('lines').innerText.includes('Bob <b> has left')");
        Assert.Equal("1", await ann.RunAsync("document.getElementById('count').textContent"));
    }

    [Fact]
    public async Task The_last_line_that_a_guest_gets_says_who_is_here_whoever_was_renamed_at_the_same_time()
    {
        const int Guests = 8;
        const int Rounds = 500; // Two seconds. Without one order for all a guest was told of an old name in one round of 250.
        await using ChildProcess chat = Programs.Sample("WebSocketChat", "--port", "0").Start();
        (_, string endpoint) = await ReadyAsync(chat);
        await using var context = new ZlinkContext();
        StreamSocket guests = context.CreateStream();
        var ids = new List<uint>();
        for (int i = 0; i < Guests; i++)
        {
            ids.Add(await guests.ConnectAsync(endpoint, Guard.Token).Guarded());
        }

        // A guest whose connect has ended may not be in the room yet.
        while ((await NextLineAsync(guests)).Line["here"]!.AsArray().Count < Guests)
        {
        }

        for (int round = 0; round < Rounds; round++)
        {
            string[] names = [.. Enumerable.Range(0, Guests)
                .Select(i => string.Create(CultureInfo.InvariantCulture, $"{i} in round {round:D3}"))];
            for (int i = 0; i < Guests; i++)
            {
                guests.To(ids[i]).Send(JsonSerializer.SerializeToUtf8Bytes(new JsonObject { ["kind"] = "name", ["text"] = names[i] }),
                    Guard.Limit);
            }

            // Everybody hears of everybody's new name, in one order or another.
            Dictionary<uint, int> heard = ids.ToDictionary(static id => id, static _ => 0);
            while (heard.Values.Any(static count => count < Guests))
            {
                (uint guest, JsonNode line) = await NextLineAsync(guests);
                if (string.Equals((string?)line["kind"], "renamed", StringComparison.Ordinal) && ++heard[guest] == Guests)
                {
                    Assert.Equal(names, line["here"]!.AsArray().Select(static name => (string)name!), StringComparer.Ordinal);
                }
            }
        }
    }

    private static async Task<(uint Guest, JsonNode Line)> NextLineAsync(StreamSocket guests)
    {
        while (true)
        {
            using StreamMessage message = await guests.ReceiveAsync(Guard.Token).Guarded();
            Assert.NotEqual(StreamMessageKind.Disconnected, message.Kind);
            if (message.Kind == StreamMessageKind.Data)
            {
                return (message.PeerId, JsonNode.Parse(message.Span)!);
            }
        }
    }

    private static async Task<(string Page, string Endpoint)> ReadyAsync(ChildProcess chat)
    {
        string line = await chat.ReadLineAsync();
        Match ready = Ready.Match(line);
        Assert.True(ready.Success, line);
        return (ready.Groups["page"].Value, ready.Groups["chat"].Value);
    }

    private static Task<string> NameAsync(Chromium.Tab tab, string name) =>
        tab.RunAsync($"const field = document.getElementById('name'); field.value = '{name}'; field.dispatchEvent(new Event('change')); "
            + $"''");

    private static Task<string> SayAsync(Chromium.Tab tab, string text) =>
        tab.RunAsync($"document.getElementById('text').value = '{text}'; document.getElementById('form').requestSubmit(); ''");

    private static async Task KeepPictureAsync(Chromium.Tab tab, string name)
    {
        byte[] picture = await tab.TakePictureAsync();
        Assert.True(picture.Length > 5000, "the picture is too small to show anything"); // An empty page of this size has 3 KB.
        if (Environment.GetEnvironmentVariable(PicturesVariable) is { Length: > 0 } folder)
        {
            Directory.CreateDirectory(folder);
            await File.WriteAllBytesAsync(Path.Combine(folder, name), picture, Guard.Token);
        }
    }
}
