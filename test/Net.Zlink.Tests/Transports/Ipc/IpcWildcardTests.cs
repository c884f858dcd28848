using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

public sealed class IpcWildcardTests : IDisposable
{
    private readonly IpcFolder _folder = new();

    [Fact]
    public async Task A_wildcard_gets_a_new_private_directory_among_the_temporary_files_that_goes_at_close()
    {
        var first = _folder.Listen("*");
        var second = _folder.Listen("*");
        Assert.NotEqual(first.Endpoint, second.Endpoint, StringComparer.Ordinal);
        foreach (string path in new[] { PathOf(first.Endpoint), PathOf(second.Endpoint) })
        {
            Assert.StartsWith(Path.GetFullPath(Path.GetTempPath()), path, StringComparison.Ordinal);
            (await IpcFolder.ConnectedAsync(path)).Dispose();
            if (!OperatingSystem.IsWindows())
            {
                Assert.Equal(
                    UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
                    File.GetUnixFileMode(Path.GetDirectoryName(path)!));
            }
        }

        first.Dispose();
        Assert.False(Path.Exists(Path.GetDirectoryName(PathOf(first.Endpoint))));
        Assert.True(Path.Exists(PathOf(second.Endpoint)));
        second.Dispose();
        Assert.False(Path.Exists(Path.GetDirectoryName(PathOf(second.Endpoint))));
    }

    [Fact]
    public void Foreign_files_in_a_wildcard_directory_are_not_deleted()
    {
        var listener = _folder.Listen("*");
        string directory = Path.GetDirectoryName(PathOf(listener.Endpoint))!;
        File.WriteAllText(Path.Combine(directory, "other"), "");
        listener.Dispose();
        Assert.Equal("other", Path.GetFileName(Assert.Single(Directory.GetFiles(directory))));
        Directory.Delete(directory, recursive: true);
    }

    public void Dispose() => _folder.Dispose();

    private static string PathOf(string endpoint) => endpoint["ipc://".Length..];
}
