using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

/// <summary>".." behind a symbolic link is the directory above that to which the link leads: so the system has it, for a bind and a connect
/// alike, and .NET's own names of files do not.</summary>
public sealed class IpcParentTests : IDisposable
{
    private readonly IpcFolder _folder = new();
    private readonly RecordingSink _sink = new();

    public IpcParentTests() => Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: to Windows .. is what .NET takes it for");

    [Theory]
    [InlineData("deep", "deep/inner", "link/../x")]
    [InlineData("deep", "./deep//inner/", "link/.././x")]
    [InlineData("deep", "deep/other/../inner", "link/../x")]
    [InlineData("", "deep/inner/again", "link/../../x")]
    [InlineData("", "deep/inner", "link/../../x")]
    [InlineData("", "deep/inner", "deep/../x")]

    // So long that the path from the root is no address.
    [InlineData("a234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "a234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890/inner", "link/../x")]
    public async Task A_bind_and_a_connect_through_a_linked_parent_meet_at_one_private_file_that_is_deleted_at_the_end(
        string where, string target, string text)
    {
        foreach (string made in new[] { "deep/inner", "deep/other", Path.Combine(where, "inner") })
        {
            Directory.CreateDirectory(_folder[made]);
        }

        Directory.CreateSymbolicLink(_folder["deep/inner/again"], _folder["deep/inner"]);
        Directory.CreateSymbolicLink(_folder["link"], target);
        string file = Path.Combine(_folder.Root, where, "x");
        IpcListener listener = _folder.Listen(_folder[text]);
        Assert.Equal($"ipc://{_folder[text]}", listener.Endpoint);
        listener.Start(_sink, TimeProvider.System);
        (await IpcFolder.ConnectedAsync(_folder[text])).Dispose();
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, Mode(file));
        listener.Close();
        Assert.False(File.Exists(file));
    }

    [Theory]
    [InlineData("deep")]

    // So long that the path from the root is no address.
    [InlineData("a234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890")]
    public void A_dead_file_behind_a_linked_parent_is_replaced_by_a_bind(string where)
    {
        Directory.CreateDirectory(_folder[$"{where}/inner"]);
        Directory.CreateSymbolicLink(_folder["link"], $"{where}/inner");
        _folder.LeaveDeadFile(_folder["x"]);
        File.Move(_folder["x"], _folder[$"{where}/x"]);
        _folder.LeaveDeadFile(_folder["x"]);
        _folder.Listen(_folder["link/../x"]).Close();
        Assert.Equal([where, "link", "x"], _folder.Names);
        Assert.False(File.Exists(_folder[$"{where}/x"]));
    }

    [Fact]
    public async Task Above_a_directory_that_is_not_there_nobody_binds_and_nobody_connects()
    {
        EndpointError refused = IpcFolder.RefusedBind(_folder["missing/../x"]);
        Assert.Equal(EndpointFault.NoSuchPath, refused.Fault);
        Assert.Contains(_folder["missing/.."], refused.Sentence, StringComparison.Ordinal);
        Assert.Null((await IpcFolder.DialAsync(_folder["missing/../x"])).Wire);
    }

    [Fact]
    public async Task Links_in_a_circle_lead_nowhere()
    {
        Directory.CreateSymbolicLink(_folder["one"], "two");
        Directory.CreateSymbolicLink(_folder["two"], "one");
        Assert.Contains("too many symbolic links", IpcFolder.RefusedBind(_folder["one/../x"]).Sentence, StringComparison.Ordinal);
        Assert.Null((await IpcFolder.DialAsync(_folder["one/../x"])).Wire);
    }

    public void Dispose()
    {
        _sink.Dispose();
        _folder.Dispose();
    }

    private static UnixFileMode Mode(string file) => OperatingSystem.IsWindows() ? UnixFileMode.None : File.GetUnixFileMode(file);
}
