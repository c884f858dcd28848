using PackageFiles;

// pages FOLDER README CHANGELOG ADDRESS: writes README.md and notes.md, as the page of a package shows them, into FOLDER.
// docs XML ASSEMBLY REFERENCES: takes what an application cannot see out of the XML docs. REFERENCES has a path on each line.
// templates CONTENT SHARED FOLDER NAME=VALUE...: copies each template, with what all of them share, into FOLDER, and sets the values.
switch (args)
{
    case ["pages", var folder, var readme, var changelog, var address]:
        Directory.CreateDirectory(folder);
        File.WriteAllText(Path.Combine(folder, "README.md"), PackagePage.WithLinksTo(address, File.ReadAllText(readme)));
        File.WriteAllText(Path.Combine(folder, "notes.md"), PackagePage.NewestSection(File.ReadAllText(changelog)));
        return 0;
    case ["docs", var docs, var assembly, var references]:
        return PublicDocs.Keep(docs, assembly, File.ReadAllLines(references));
    case ["templates", var content, var shared, var folder, .. var values]:
        Templates.Copy(content, shared, folder, values);
        return 0;
    default:
        Console.Error.WriteLine("PackageFiles: error: the arguments are those of the projects that pack");
        return 1;
}
