using System.Diagnostics;
using Net.Zlink.Tests.PublicApi;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Samples;

/// <summary>The chat sample in a real browser.</summary>
public sealed class WebSocketChatTests
{
    // Where to put pictures of the page, for somebody to look at.
    private const string PicturesVariable = "ZLINK_PICTURES";

    [Fact]
    public async Task Two_tabs_see_each_other_come_talk_and_leave()
    {
        string? program = Chromium.Find();
        Assert.SkipWhen(program is null, "there is no Chromium here; Debian's package is called chromium");
        using Process chat = Start("--port", "0");
        try
        {
            string line = await chat.StandardOutput.ReadLineAsync(Guard.Token).Guarded() ?? await chat.StandardError.ReadToEndAsync(Guard.Token).Guarded();
            string page = line.Split(' ')[1];
            Assert.StartsWith("http://127.0.0.1:", page, StringComparison.Ordinal);
            await using Chromium browser = await Chromium.StartAsync(program);

            Chromium.Tab ann = await browser.OpenAsync(page);
            await ann.UntilAsync("document.getElementById('state')?.className === 'up' && document.getElementById('count').textContent === '1'");
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
        finally
        {
            chat.Kill();
            await chat.WaitForExitAsync(CancellationToken.None).WaitAsync(Guard.Limit, CancellationToken.None);
        }
    }

    private static Process Start(params string[] arguments)
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string path = Path.Combine(SourceTree.Root, "samples", "WebSocketChat", "bin", framework.Parent!.Name, framework.Name, "WebSocketChat.dll");
        return Process.Start(new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [path, .. arguments]) { UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true })!;
    }

    private static Task<string> NameAsync(Chromium.Tab tab, string name) =>
        tab.RunAsync($"const field = document.getElementById('name'); field.value = '{name}'; field.dispatchEvent(new Event('change')); ''");

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
