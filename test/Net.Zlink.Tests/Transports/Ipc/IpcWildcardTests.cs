using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

public sealed class IpcWildcardTests : IDisposable
{
    private readonly IpcFolder _folder = new();

    [Fact]
    public async Task A_wildcard_gets_a_new_directory_of_its_own_that_goes_at_close()
    {
        var first = _folder.Listen("*");
        var second = _folder.Listen("*");
        Assert.NotEqual(first.Endpoint, second.Endpoint, StringComparer.Ordinal);
        foreach (var listener in new[] { first, second })
        {
            Assert.Matches("^ipc://.*/tmp[a-zA-Z0-9]{6}/socket$", listener.Endpoint.Replace('\\', '/'));
            Assert.StartsWith($"ipc://{_folder.Root}", listener.Endpoint, StringComparison.Ordinal);
            (await IpcFolder.ConnectedAsync(listener.Endpoint["ipc://".Length..])).Dispose();
            if (!OperatingSystem.IsWindows())
            {
                Assert.Equal(
                    UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
                    File.GetUnixFileMode(Path.GetDirectoryName(listener.Endpoint["ipc://".Length..])!));
            }
        }

        Assert.Equal(2, _folder.Names.Length);
        first.Close();
        Assert.Single(_folder.Names);
        second.Close();
        Assert.Empty(_folder.Names);
    }

    [Fact]
    public void Foreign_files_in_a_wildcard_directory_are_not_deleted()
    {
        var listener = _folder.Listen("*");
        var directory = Path.GetDirectoryName(listener.Endpoint["ipc://".Length..])!;
        File.WriteAllText(Path.Combine(directory, "other"), "");
        listener.Close();
        Assert.Equal("other", Path.GetFileName(Assert.Single(Directory.GetFiles(directory))));
    }

    [Theory]
    [InlineData("TMPDIR,TEMPDIR,TMP", "TMPDIR")]
    [InlineData("TEMPDIR,TMP", "TEMPDIR")]
    [InlineData("TMP", "TMP")]
    public void The_first_variable_that_names_a_directory_counts(string set, string expected)
    {
        foreach (var variable in set.Split(','))
        {
            Directory.CreateDirectory(_folder[variable]);
        }

        Assert.Equal(_folder[expected], WildcardPath.Root(variable => _folder[variable])); // all are set, but some to what does not exist
        Assert.Equal(_folder[expected], WildcardPath.Root(
            variable => set.Split(',').Contains(variable, StringComparer.Ordinal) ? _folder[variable] : ""));
    }

    [Fact]
    public async Task Without_any_it_goes_to_the_systems_directory_for_temporary_files_and_nothing_is_left()
    {
        Assert.Equal(Path.GetTempPath(), WildcardPath.Root(static _ => null));
        var listener = _folder.Listen("*", environment: static _ => null);
        Assert.Matches("/tmp[a-zA-Z0-9]{6}/socket$", listener.Endpoint.Replace('\\', '/'));
        Assert.StartsWith($"ipc://{Path.GetTempPath()}", listener.Endpoint, StringComparison.Ordinal);
        var path = listener.Endpoint["ipc://".Length..];
        (await IpcFolder.ConnectedAsync(path)).Dispose();
        Assert.True(Path.Exists(path));
        listener.Close();
        Assert.False(Path.Exists(path));
        Assert.False(Path.Exists(Path.GetDirectoryName(path)));
    }

    [Fact]
    public void A_relative_directory_gives_a_full_path_which_processes_elsewhere_can_use()
    {
        var relative = Path.GetRelativePath(Environment.CurrentDirectory, _folder.Root);
        Assert.Equal(_folder.Root, WildcardPath.Root(_ => relative));
    }

    [Fact]
    public void A_temporary_directory_that_makes_the_path_too_long_is_said_and_left_clean()
    {
        var deep = _folder[new string('d', 90)];
        Directory.CreateDirectory(deep);
        var result = IpcListener.Bind(IpcFolder.ToBind("*"), new SocketSettings(), _ => deep);
        Assert.Null(result.Listener);
        Assert.Equal(EndpointFault.NameTooLong, result.Error.Fault);
        Assert.Empty(Directory.GetFileSystemEntries(deep));
    }

    public void Dispose() => _folder.Dispose();
}
